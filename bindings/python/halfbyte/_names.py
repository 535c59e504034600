"""Names of kernels that compilers have mangled."""

from __future__ import annotations

import re
from typing import List


def name_parts(name: str) -> List[str]:
    """Returns the parts of a mangled C++ name: `["of", "axpy"]` for `_ZN2of4axpyEPf`. A name that is not mangled has no parts."""
    found = re.match(r"_Z(N?)(?=\d)", name)
    parts: List[str] = []
    rest = name[found.end() :] if found else ""
    while digits := re.match(r"\d+", rest):
        end = digits.end() + int(digits[0])
        if not rest.startswith("_GLOBAL__N", digits.end()):
            parts.append(rest[digits.end() : end])
        rest = rest[end:]
        if found and not found[1]:
            break
    return parts
