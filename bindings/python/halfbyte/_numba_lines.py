"""Source lines of kernels that Numba compiles. This module has no other effect on Numba."""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
import warnings
from typing import Any, Iterator, Tuple

#: Behaviour of a module flag that replaces the flag of another module when LLVM links the two.
_OVERRIDE = 4

_VERSION = "Debug Info Version"

#: Whether the current thread compiles a kernel without lines.
_thread = threading.local()


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
        if rest or options.get("debug") or options.get("lineinfo") or getattr(_thread, "has_no_lines", False):
            return compile_cuda(pyfunc, return_type, args, *rest, **options)
        with warnings.catch_warnings():
            # The program has not asked for lines, so a warning about a function without source would be unexpected.
            warnings.filterwarnings("ignore", message="Could not find source for function")
            return compile_cuda(pyfunc, return_type, args, **{**options, "lineinfo": True})

    setattr(compile_with_lines, "_has_lines", True)
    for module in modules:
        if getattr(module, "compile_cuda", None) is compile_cuda:
            module.compile_cuda = compile_with_lines
    if hasattr(modules[1], "_Kernel"):
        _retry_without_lines(modules[1]._Kernel)
    link_with_other_compilers()


def _retry_without_lines(kernel: Any) -> None:
    """Makes Numba compile a kernel without lines if NVVM refuses its lines.

    For some functions, such as those with `literal_unroll`, Numba writes lines that belong to another function. NVVM finds them when
    the kernel is compiled or when it is linked.
    """
    initialise, bind = kernel.__init__, kernel.bind

    @functools.wraps(initialise)
    def initialise_or_retry(self: Any, *args: Any, **options: Any) -> None:
        has_own_lines = options.get("debug") or options.get("lineinfo")
        try:
            initialise(self, *args, **options)
            self._without_lines = None if has_own_lines else (args, options)
        except Exception as error:
            if has_own_lines or not _is_of_nvvm(error):
                raise
            with _without_lines():
                initialise(self, *args, **options)

    @functools.wraps(bind)
    def bind_or_retry(self: Any) -> Any:
        try:
            return bind(self)
        except Exception as error:
            again = self.__dict__.pop("_without_lines", None)
            if again is None or not _is_of_nvvm(error):
                raise
            with _without_lines():
                initialise(self, *again[0], **again[1])
            return bind(self)

    kernel.__init__, kernel.bind = initialise_or_retry, bind_or_retry


def _is_of_nvvm(error: Exception) -> bool:
    """Returns `True` for an error of NVVM, or of the linker that calls NVVM."""
    return type(error).__name__ in ("NvvmError", "LinkerError", "nvJitLinkError")


@contextlib.contextmanager
def _without_lines() -> Iterator[None]:
    """Returns a context in which the current thread compiles without lines."""
    _thread.has_no_lines = True
    try:
        yield
    finally:
        _thread.has_no_lines = False


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
