"""Kernels in CUDA C++, which NVRTC, nvcc or clang compiles to PTX, executed directly.

The extension module finds the compiler and the CUDA headers in the folders of `sys.path`, and keeps compiled kernels in a cache on disk.
Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from types import FrameType
from typing import Literal, Optional, Sequence, Tuple, Union

from ._compilers import Sm, only_kernel
from ._halfbyte import Kernel, Module, compile_cuda, is_expression, parameter_names, parse_ptx, plain_name, sm_number

__all__ = ["cuda"]

Compiler = Literal["nvrtc", "nvcc", "clang"]

#: File name of a source text that is in no file.
_NO_FILE = "<cuda>"


def cuda(
    source: str,
    entry: Optional[str] = None,
    *,
    sm: Sm = 80,
    options: Sequence[str] = (),
    file: Optional[str] = None,
    compiler: Optional[Compiler] = None,
    include: Sequence[Union[str, "os.PathLike[str]"]] = (),
) -> Kernel:
    """Compiles a CUDA C++ kernel. The kernel is called with `grid=` and `block=`, and arguments by position or name.

    `entry` is the kernel's name: plain, with a namespace, with template arguments, with parameters, or mangled. Examples are `scale`,
    `of::scale`, `scale<float>`, `scale(float *)` and `_Z5scalePf`. It may be omitted if there is only one kernel.

    `compiler` is `"nvrtc"`, `"nvcc"` or `"clang"`; the default is the first one that is installed. `options` are those of the compiler,
    and `include` has folders with headers. The CUDA headers need no folder. `file` is the file name in messages. The default is the
    Python file of the caller, with its line numbers, if the text is a literal there.

    Variables in `__constant__` and `__device__` memory can be written before a launch: `kernel.variables["c"] = np.float32([1, 2])`.
    Launches of a text that calls `cooperative_groups::this_grid().sync()` are cooperative, unless a call has `cooperative=False`.
    Argument names are those of the source or of the PTX. Raises `ParseError` with the log if the compilation fails.
    """
    place = _place(source, sys._getframe(1)) if file is None else (file, 1)
    expressions = [entry] if entry is not None and is_expression(entry) else []
    folders = [folder for folder in sys.path if folder]
    included = [os.fspath(folder) for folder in include]
    ptx, lowered = compile_cuda(source, *place, sm_number(sm), list(options), expressions, included, folders, compiler)
    if ".entry" not in ptx:
        hint = "; give the template arguments in entry, such as entry='scale<float>'" if "template" in source else ""
        raise ValueError(f"{place[0]} has no kernel{hint}")
    module = parse_ptx(ptx, place[0] if place[0] == _NO_FILE else f"{place[0]}.ptx")
    if entry is None:
        if len(module) != 1:
            raise ValueError(f"there are several kernels; give entry, one of {', '.join(module)}")
        return _named_as_in(source, only_kernel(module))
    return _named_as_in(source, _kernel(module, lowered.get(entry, entry), source))


def _kernel(module: Module, entry: str, source: str) -> Kernel:
    """Returns the kernel with a mangled or plain name."""
    all = [*module, *module.refused]
    found = [entry] if entry in all else [name for name in all if plain_name(name) == entry]
    if len(found) > 1:
        names = ", ".join(found)
        raise ValueError(f"there are several kernels {entry}; give entry with parameters, such as '{entry}(float *)', or one of {names}")
    if not found and re.search(rf"\btemplate\b[^;{{}}]*\b{re.escape(entry.rpartition('::')[2])}\s*\(", source):
        raise KeyError(f"{entry} is a template; give its arguments, such as entry='{entry}<float>'")
    return module[found[0] if found else entry]


def _place(source: str, frame: Optional[FrameType]) -> Tuple[str, int]:
    """Returns the file and the line in which a source text begins, if it is a literal in the file of the caller."""
    if frame is not None and "__global__" in source:
        file = frame.f_code.co_filename
        text = "".join(linecache.getlines(file, frame.f_globals))
        at = text.find(source)
        if at >= 0:
            return (os.path.abspath(file) if os.path.exists(file) else file), text.count("\n", 0, at) + 1
    return _NO_FILE, 1


def _named_as_in(source: str, kernel: Kernel) -> Kernel:
    """Returns the kernel with the names of its source in messages."""
    count = len(kernel.params)
    names = parameter_names(source, kernel.name, count) or [""] * count
    labels = [name or f"argument {number + 1}" for number, name in enumerate(names)]
    # A barrier of the grid reads an environment register.
    return kernel._labelled(plain_name(kernel.name), labels, cooperative="%envreg" in kernel.text)
