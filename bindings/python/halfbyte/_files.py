"""Kernel files."""

from __future__ import annotations

import os
from typing import Union

from ._halfbyte import Module, load_object, parse, parse_ptx


def load(path: Union[str, "os.PathLike[str]"]) -> Module:
    """Loads a kernel file: PTX (`*.ptx`), an object file (`*.o`), or otherwise the IR or the language (`*.hb`).

    Kernels of an object file run on the target that they were compiled for. Raises `OSError` if the file cannot be read.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        contents = file.read()
    if name.endswith(".o") or contents.startswith(b"\x7fELF"):
        return load_object(contents, name)
    text = contents.decode("utf-8", errors="replace")
    return parse_ptx(text, name) if name.endswith(".ptx") else parse(text, name)
