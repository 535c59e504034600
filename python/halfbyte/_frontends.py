"""Kernels that Triton, Numba and CUDA C++ compile to PTX, run as that stands: no GPU and no driver is needed.

Each package is imported where it is first asked for. What goes wrong names the line of the source by the `.loc` that the compilers write.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._halfbyte import Kernel, Module, parse_ptx

__all__ = ["MissingPackage", "NumbaKernel", "TritonKernel", "cuda", "numba", "triton"]

_Grid = Union[int, Sequence[int]]


class MissingPackage(ImportError):
    """A compiler that is not installed; the message has the line that installs it."""


def _missing(what: str, package: str, error: BaseException) -> MissingPackage:
    made = MissingPackage(f"{what} is not installed ({error}); `pip install {package}` installs it")
    made.name = what
    return made


# Triton.

_TRITON_TYPES = {
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "bool": "i1",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
}


class TritonKernel:
    """A function of Triton, run by halfbyte. Called, or `kernel[grid](...)` as in Triton, it compiles for the types of its arguments and runs.

    `ptx(...)` gives the text instead.
    """

    def __init__(self, fn: Any, sm: int = 80, num_warps: int = 4, races: bool = False, **options: Any) -> None:
        try:
            import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
        except ImportError as error:
            raise _missing("triton", "triton", error) from error
        self.fn = fn
        self.sm = sm
        self.options = {"num_warps": num_warps, **options}
        self.races = races
        self._compiled: Dict[Any, Tuple[Kernel, int]] = {}

    def __getitem__(self, grid: _Grid) -> Callable[..., None]:
        return lambda *args, **kwargs: self(*args, grid=grid, **kwargs)

    def __call__(self, *args: Any, grid: Union[_Grid, Callable[[Mapping[str, Any]], _Grid]], races: Optional[bool] = None, **kwargs: Any) -> None:
        values = self._bound(args, kwargs)
        kernel, shared = self._compile(values)
        constants = self._constants()
        given: List[Any] = [value for name, value in values.items() if name not in constants]
        # Triton adds pointers to scratch memory of its own, of which these kernels have none.
        given += [0] * (len(kernel.params) - len(given))
        if callable(grid):
            grid = grid(values)
        races = self.races if races is None else races
        kernel(*given, grid=grid, block=32 * self.options["num_warps"], shared=shared, races=races)

    def ptx(self, *args: Any, **kwargs: Any) -> str:
        """The PTX for arguments of these types."""
        return self._compile(self._bound(args, kwargs))[0].text

    def _constants(self) -> List[str]:
        return [param.name for param in self.fn.params if param.is_constexpr]

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Dict[str, Any]:
        bound = self.fn.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def _compile(self, values: Mapping[str, Any]) -> Tuple[Kernel, int]:
        import triton
        from triton.backends.compiler import GPUTarget  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from triton.compiler import ASTSource  # type: ignore[import-untyped, import-not-found, unused-ignore]

        constants = {name: values[name] for name in self._constants()}
        types = {name: "constexpr" if name in constants else _triton_type(name, value) for name, value in values.items()}
        key = (tuple(types.items()), tuple(constants.items()))
        if key not in self._compiled:
            source = ASTSource(fn=self.fn, signature=types, constexprs=constants)
            made = triton.compile(source, target=GPUTarget("cuda", self.sm, 32), options=self.options)
            name = made.metadata.name
            self._compiled[key] = (parse_ptx(made.asm["ptx"], f"{name}.ptx")[name], made.metadata.shared)
        return self._compiled[key]


def _triton_type(name: str, value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        of = _TRITON_TYPES.get(str(dtype).replace("torch.", ""))
        if of is None:
            raise TypeError(f"`{name}` is of dtype {dtype}, which Triton has not")
        return f"*{of}" if getattr(value, "ndim", 0) else of
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    if isinstance(value, float):
        return "fp32"
    raise TypeError(f"`{name}` takes an array or a number; a {type(value).__name__} was given")


def triton(fn: Any, *, sm: int = 80, num_warps: int = 4, races: bool = False, **options: Any) -> TritonKernel:
    """A function of Triton (`@triton.jit`), to be run without a GPU on arrays in place of pointers: `hb.triton(fn)[grid](x, y, n, BLOCK=128)`.

    It is compiled for `sm` when it is called with arguments of new types; `options` are Triton's (`num_stages`, ...). With `races` a race is found
    and named by the line of the function. Triton's own reductions let several threads store one value to one place of shared memory, which is a race
    as PTX has it and does no harm: look for races in functions without them.
    """
    return TritonKernel(fn, sm, num_warps, races, **options)


# Numba.


class NumbaKernel:
    """A function of Numba for CUDA, run by halfbyte: `kernel[grid, block](...)`, or called with `grid=` and `block=`. `ptx` is its text."""

    def __init__(self, fn: Any, signature: Any, sm: int = 80, races: bool = False, **options: Any) -> None:
        try:
            from numba import cuda  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except Exception as error:  # noqa: BLE001 (numba-cuda fails in several ways where its libraries are missing)
            raise _missing("numba-cuda", '"numba-cuda[cu13]"', error) from error
        fn = getattr(fn, "py_func", fn)
        options = {"lineinfo": True, "debug": False, "fastmath": False, **options}
        cc = (sm // 10, sm % 10)
        self.ptx, _ = _any(cuda).compile(fn, signature, cc=cc, device=False, abi="numba", output="ptx", **options)
        self.races = races
        self.kernel = _only(parse_ptx(self.ptx, f"{fn.__name__}.ptx"))

    def __getitem__(self, shape: Tuple[_Grid, _Grid]) -> Callable[..., None]:
        return lambda *args: self(*args, grid=shape[0], block=shape[1])

    def __call__(self, *args: Any, grid: _Grid, block: _Grid, shared: int = 0, races: Optional[bool] = None) -> None:
        races = self.races if races is None else races
        given = [part for value in args for part in _numba_parts(value)]
        self.kernel(*given, grid=grid, block=block, shared=shared, races=races)


def _numba_parts(value: Any) -> List[Any]:
    """What Numba passes for a value: of an array its fields, as they stand in `numba.core.datamodel`."""
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return [value]
    # Parent and memory information are null, then come size, item size, data, shape and strides.
    return [0, 0, value.size, value.itemsize, value, *value.shape, *value.strides]


def numba(fn: Any, signature: Any, *, sm: int = 80, races: bool = False, **options: Any) -> NumbaKernel:
    """A function of Numba for CUDA, to be run without a GPU: `hb.numba(fn, "void(float32[::1], float32[::1])")[grid, block](x, y)`.

    It is the function itself, or what `@cuda.jit` makes of it. `options` are those of `numba.cuda.compile`. With `races` a race or a missing barrier is
    found, and named by the line of the function.
    """
    return NumbaKernel(fn, signature, sm, races, **options)


def _any(module: Any) -> Any:
    """A module of another package, whose stubs do not say all that it has."""
    return module


def _only(module: Module) -> Kernel:
    return next(iter(module.values()))


# CUDA C++.


def cuda(
    source: str, entry: Optional[str] = None, *, sm: int = 80, options: Sequence[str] = (), file: str = "<cuda>"
) -> Kernel:
    """A kernel in CUDA C++, compiled by NVRTC, to be called with `grid=` and `block=`: arguments by position, or by the names that PTX has for them.

    `entry` is the kernel's name; of `extern "C"` ones as it stands, of others as NVRTC makes it. It may be left out where there is one kernel. `options`
    are NVRTC's. An error of the compiler is a `ParseError` with its log.
    """
    ptx = _nvrtc().compile(source, file, [f"--gpu-architecture=compute_{sm}", "-lineinfo", *options])
    module = parse_ptx(ptx, file)
    if entry is None:
        if len(module) != 1:
            raise ValueError(f"there are several kernels; give entry, one of {', '.join(module)}")
        return _only(module)
    found = [name for name in module if name == entry or _unmangled(name) == entry]
    return module[found[0] if len(found) == 1 else entry]


def _unmangled(name: str) -> str:
    """The plain name in one that C++ has made: `axpy` of `_Z4axpyPfS_f`."""
    digits = ""
    rest = name[2:] if name.startswith("_Z") else ""
    while rest[:1].isdigit():
        digits, rest = digits + rest[0], rest[1:]
    return rest[: int(digits)] if digits else name


class _Nvrtc:
    """NVRTC, by its C interface."""

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
                raise ParseError(log.strip() or "NVRTC refuses the text", file=file, line=_line_of(log, file))
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
    """The line that the first error of a log names: `<cuda>(3): error: ...`."""
    _, found, rest = log.partition(f"{file}(")
    digits = rest.partition(")")[0] if found else ""
    return int(digits) if digits.isdigit() else 1


_loaded: List[_Nvrtc] = []


def _nvrtc() -> _Nvrtc:
    """NVRTC of its wheel, or of the system."""
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
    raise _missing("NVRTC", "nvidia-cuda-nvrtc", error)
