"""Kernels in CUDA C++, which NVRTC compiles to PTX, executed directly.

NVRTC is loaded at its first use. Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import sys
from typing import Any, List, Optional, Sequence

from ._compilers import Sm, missing, only_kernel
from ._halfbyte import Kernel, parse_ptx, sm_number

__all__ = ["cuda"]


def cuda(
    source: str, entry: Optional[str] = None, *, sm: Sm = 80, options: Sequence[str] = (), file: str = "<cuda>"
) -> Kernel:
    """Compiles a CUDA C++ kernel with NVRTC. The kernel is called with `grid=` and `block=`, and arguments by position or name.

    `entry` is the kernel's name, plain or as mangled by NVRTC. It may be omitted if there is only one kernel. `options` are NVRTC's.
    Argument names are those of the source or of the PTX. Raises `ParseError` with the log if the compilation fails.
    """
    ptx = _nvrtc().compile(source, file, [f"--gpu-architecture=compute_{sm_number(sm)}", "-lineinfo", *options])
    module = parse_ptx(ptx, file)
    if entry is None:
        if len(module) != 1:
            raise ValueError(f"there are several kernels; give entry, one of {', '.join(module)}")
        return _named_as_in(source, only_kernel(module))
    found = [name for name in module if name == entry or _unmangled(name) == entry]
    return _named_as_in(source, module[found[0] if len(found) == 1 else entry])


def _named_as_in(source: str, kernel: Kernel) -> Kernel:
    """Returns the kernel with the names of its source in messages."""
    name = _unmangled(kernel.name)
    count = len(kernel.params)
    fitting = [names for names in _parameter_names(source, name.rpartition("::")[2]) if len(names) == count]
    names = fitting[0] if fitting else [""] * count
    return kernel._labelled(name, [name or f"argument {number + 1}" for number, name in enumerate(names)])


def _unmangled(name: str) -> str:
    """Returns the plain name of a mangled C++ name: `axpy` for `_Z4axpyPfS_f`, `of::axpy` for `_ZN2of4axpyEPf`."""
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
    return "::".join(parts) or name


#: Comments and string literals.
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)

#: Keywords that may end a parameter without a name.
_TYPE_WORDS = frozenset("bool char short int long signed unsigned float double half const volatile restrict __restrict __restrict__".split())


def _parameter_names(source: str, kernel: str) -> List[List[str]]:
    """Returns the parameter names of each `__global__` function with this name. An unnamed parameter has an empty name."""
    text = _SKIPPED.sub(" ", source)
    found = []
    for match in re.finditer(rf"\b{re.escape(kernel)}\s*\(", text):
        before = text[: match.start()]
        if "__global__" not in before[max(before.rfind(sign) for sign in ";{}") + 1 :]:
            continue
        params, depth = [""], 0
        for sign in text[match.end() :]:
            depth += (sign in "([{<") - (sign in ")]}>")
            if depth < 0:
                break
            if sign == "," and depth == 0:
                params.append("")
            else:
                params[-1] += sign
        if params == [""] or [param.strip() for param in params] == ["void"]:
            params = []
        found.append([_parameter_name(param) for param in params])
    return found


def _parameter_name(param: str) -> str:
    name = re.search(r"[\w>*&\s]\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", param.partition("=")[0])
    is_named = name and re.search(r"\w", param[: name.start(1)]) and name[1] not in _TYPE_WORDS
    return name[1] if name and is_named else ""


class _Nvrtc:
    """Access to the NVRTC library through its C interface."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def compile(self, source: str, file: str, options: Sequence[str]) -> str:
        from ._errors import ParseError

        program = ctypes.c_void_p()
        self._call("CreateProgram", ctypes.byref(program), source.encode(), file.encode(), 0, None, None)
        try:
            given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            if self.library.nvrtcCompileProgram(program, len(options), given) != 0:
                log = self._text("ProgramLog", program)
                raise ParseError(log.strip() or "NVRTC rejected the source text", file=file, line=_line_of(log, file))
            return self._text("PTX", program)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, what: str, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call(f"Get{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self._call(f"Get{what}", program, text)
        return text.value.decode(errors="replace")

    def _call(self, name: str, *args: Any) -> None:
        code = getattr(self.library, f"nvrtc{name}")(*args)
        if code != 0:
            raise RuntimeError(f"nvrtc{name} fails with code {code}")


def _line_of(log: str, file: str) -> int:
    """Returns the line number of the first error in a log of NVRTC, such as 3 for `<cuda>(3): error: ...`."""
    _, found, rest = log.partition(f"{file}(")
    digits = rest.partition(")")[0] if found else ""
    return int(digits) if digits.isdigit() else 1


_loaded: List[_Nvrtc] = []


def _nvrtc() -> _Nvrtc:
    """Loads NVRTC from its Python package, or from the system."""
    if _loaded:
        return _loaded[0]
    wheels = [os.path.join(folder, "nvidia", "*", "lib", "libnvrtc.so.*") for folder in sys.path]
    names = sorted({name for pattern in wheels for name in glob.glob(pattern) if "builtins" not in name and ".alt." not in name})
    error: BaseException = OSError("no libnvrtc.so is found")
    for name in [*reversed(names), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            for builtins in glob.glob(os.path.join(os.path.dirname(name) or ".", "libnvrtc-builtins.so.*")) if "/" in name else []:
                ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
            _loaded.append(_Nvrtc(ctypes.CDLL(name)))
            return _loaded[0]
        except OSError as wrong:
            error = wrong
    raise missing("NVRTC", "nvidia-cuda-nvrtc", error)
