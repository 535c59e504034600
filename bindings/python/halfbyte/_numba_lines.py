"""Source lines of kernels that Numba compiles. This module has no other effect on Numba."""

from __future__ import annotations

import functools
import importlib
import warnings
from typing import Any, Tuple

#: Behaviour of a module flag that replaces the flag of another module when LLVM links the two.
_OVERRIDE = 4

_VERSION = "Debug Info Version"


def with_lines() -> None:
    """Makes Numba compile kernels with source lines, as by `lineinfo=True`, so that errors name the lines of Python functions."""
    from numba.cuda import compiler, dispatcher  # type: ignore[import-untyped, import-not-found, unused-ignore]

    modules: Tuple[Any, ...] = (compiler, dispatcher)
    compile_cuda = modules[0].compile_cuda
    if getattr(compile_cuda, "_has_lines", False):
        return

    @functools.wraps(compile_cuda)
    def compile_with_lines(pyfunc: Any, return_type: Any, args: Any, *rest: Any, **options: Any) -> Any:
        # Source lines and debug information exclude each other.
        if rest or options.get("debug") or options.get("lineinfo"):
            return compile_cuda(pyfunc, return_type, args, *rest, **options)
        with warnings.catch_warnings():
            # The program has not asked for lines, so a warning about a function without source would be unexpected.
            warnings.filterwarnings("ignore", message="Could not find source for function")
            return compile_cuda(pyfunc, return_type, args, **{**options, "lineinfo": True})

    setattr(compile_with_lines, "_has_lines", True)
    for module in modules:
        if getattr(module, "compile_cuda", None) is compile_cuda:
            module.compile_cuda = compile_with_lines
    link_with_other_compilers()


def link_with_other_compilers() -> None:
    """Lets modules with lines be linked to modules of NVRTC, such as those of `cuda.fp16`.

    The flag `Debug Info Version` has another behaviour in modules of NVRTC. LLVM does not link modules whose flags conflict.
    """
    builder: Any = getattr(importlib.import_module("numba.cuda.debuginfo"), "DIBuilder", None)
    set_flags = getattr(builder, "_set_module_flags", None)
    if set_flags is None or getattr(set_flags, "_links", False):
        return

    @functools.wraps(set_flags)
    def set_flags_that_link(self: Any) -> None:
        set_flags(self)
        flags = self.module.get_named_metadata("llvm.module.flags")
        kept = []
        for flag in flags.operands:
            if any(getattr(operand, "string", operand) == _VERSION for operand in flag.operands):
                flag = self.module.add_metadata([self._const_int(_OVERRIDE), _VERSION, self._const_int(self.DEBUG_INFO_VERSION)])
            if flag not in kept:
                kept.append(flag)
        flags.operands[:] = kept

    setattr(set_flags_that_link, "_links", True)
    builder._set_module_flags = set_flags_that_link
