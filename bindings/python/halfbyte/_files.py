"""Files of kernels."""

from __future__ import annotations

import os
from typing import Union

from ._halfbyte import Module, load_object, parse, parse_ptx


def load(path: Union[str, "os.PathLike[str]"]) -> Module:
    """Reads a file of kernels: PTX where its name ends in `.ptx`, an object where it ends in `.o`, else the IR (`.hb`).

    Of an object the kernels run on the target that they were compiled for. A file that cannot be read is an `OSError`.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        contents = file.read()
    if name.endswith(".o") or contents.startswith(b"\x7fELF"):
        return load_object(contents, name)
    text = contents.decode("utf-8", errors="replace")
    return parse_ptx(text, name) if name.endswith(".ptx") else parse(text, name)
