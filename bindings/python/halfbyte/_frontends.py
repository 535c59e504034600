"""Kernels that Triton, Numba and NVRTC compile to PTX, executed directly, without a GPU or driver.

Each package is imported at its first use. Errors state the source line from the compilers' `.loc` directives.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import re
import struct
import sys
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._halfbyte import Kernel, Module, parse_ptx, sm_number, whole_number
from ._numba_args import Arguments, is_default_stream

__all__ = ["MissingPackage", "NumbaKernel", "TritonKernel", "cuda", "numba", "triton"]

_Grid = Union[int, Sequence[int]]
_Sm = Union[int, str]
_Races = Union[bool, Literal["strict"]]


class MissingPackage(ImportError):
    """Missing compiler; the message has the command that installs it."""


def _missing(what: str, package: str, error: BaseException) -> MissingPackage:
    made = MissingPackage(f"{what} is not installed ({error}); `pip install {package}` installs it")
    made.name = what
    return made


# Triton's names of the element types, keyed by the names of dtypes.

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
    """Triton function, run by halfbyte. A call, or `kernel[grid](...)` as in Triton, compiles it for the argument types and runs it.

    `ptx(...)` returns the PTX instead.
    """

    def __init__(self, fn: Any, sm: _Sm = 80, num_warps: int = 4, races: _Races = False, **options: Any) -> None:
        try:
            import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
        except ImportError as error:
            raise _missing("triton", "triton", error) from error
        self.fn = fn
        self.sm = sm_number(sm)
        if whole_number(num_warps, "num_warps", 1, 32).bit_count() != 1:
            raise ValueError(f"num_warps is {num_warps}; give a power of two from 1 to 32")
        for name in ("num_stages", "num_ctas", "maxnreg"):
            if options.get(name) is not None:
                whole_number(options[name], name, 0 if name == "num_stages" else 1, 2**16)
        self.options = {"num_warps": num_warps, **options}
        self.races = races
        self._compiled: Dict[Any, Tuple[Kernel, int]] = {}

    def __getitem__(self, grid: _Grid) -> Callable[..., None]:
        return lambda *args, **kwargs: self(*args, grid=grid, **kwargs)

    def __call__(self, *args: Any, grid: Union[_Grid, Callable[[Mapping[str, Any]], _Grid]], races: Optional[_Races] = None, **kwargs: Any) -> None:
        values = self._bound(args, kwargs)
        kernel, shared = self._compile(values)
        constants = self._constants()
        given: List[Any] = [value for name, value in values.items() if name not in constants]
        # Triton appends parameters for pointers to its own scratch memory. The kernels do not use
        # this memory, so the pointers are null.
        given += [0] * (len(kernel.params) - len(given))
        if callable(grid):
            grid = grid(values)
        races = self.races if races is None else races
        cooperative = bool(self.options.get("launch_cooperative_grid"))
        kernel(*given, grid=grid, block=32 * self.options["num_warps"], shared=shared, races=races, cooperative=cooperative)

    def ptx(self, *args: Any, **kwargs: Any) -> str:
        """Returns the PTX for arguments of these types."""
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
        sm = sm_number(self.sm)
        key = (tuple(types.items()), _exact(constants), sm, _exact(self.options))
        if key not in self._compiled:
            source = ASTSource(fn=self.fn, signature=types, constexprs=constants)
            made = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=self.options)
            name = made.metadata.name
            kernel = parse_ptx(made.asm["ptx"], f"{name}.ptx")[name]
            kernel = kernel._labelled(self.fn.__name__, [name for name in values if name not in constants])
            self._compiled[key] = (kernel, made.metadata.shared)
        return self._compiled[key]


class _Identity:
    """Cache key of an object. It equals only the key of the same object, and keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _exact(value: Any) -> Any:
    """Returns a cache key of a value, which depends on its type and bits: `2`, `2.0` and `True` differ, and so do `0.0` and `-0.0`."""
    of = type(value)
    if of is float:
        return of, struct.pack("<d", value)
    if of is complex:
        return of, struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic):
        return of, value.dtype.str, value.tobytes()
    if isinstance(value, (tuple, list)):
        return of, tuple(map(_exact, value))
    if isinstance(value, Mapping):
        return of, tuple((_exact(key), _exact(item)) for key, item in value.items())
    if of.__name__ == "constexpr" and hasattr(value, "value"):
        return of, _exact(value.value)
    try:
        hash(value)
    except TypeError:
        return of, _Identity(value)
    return of, value


def _triton_type(name: str, value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        of = _TRITON_TYPES.get(str(dtype).replace("torch.", ""))
        if of is None:
            raise TypeError(f"`{name}` has dtype {dtype}, which Triton does not support")
        return f"*{of}" if getattr(value, "ndim", 0) else of
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    if isinstance(value, float):
        return "fp32"
    raise TypeError(f"`{name}` takes an array or a number; a {type(value).__name__} was given")


def triton(fn: Any, *, sm: _Sm = 80, num_warps: int = 4, races: _Races = False, **options: Any) -> TritonKernel:
    """Wraps a Triton function (`@triton.jit`), which runs without a GPU on arrays for its pointers: `hb.triton(fn)[grid](x, y, n, BLOCK=128)`.

    The function is compiled for `sm` when it is called with new argument types. `options` are Triton's (`num_stages`, ...); with
    `launch_cooperative_grid=True`, all blocks are resident, so that blocks can wait for each other. With `races`,
    races are detected and reported with the line of the function. In Triton's reductions several threads store the same value to the
    same address of shared memory, which gives a `RaceWarning`. With `races="strict"`, these stores are an error, too.
    """
    return TritonKernel(fn, sm, num_warps, races, **options)


# Kernels that Numba compiles.


class NumbaKernel:
    """Numba CUDA function, run by halfbyte: `kernel[grid, block](...)`, or a call with `grid=` and `block=`. `ptx` is its PTX."""

    def __init__(self, fn: Any, signature: Any, sm: _Sm = 80, races: _Races = False, **options: Any) -> None:
        try:
            from numba import cuda  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except Exception as error:  # noqa: BLE001 (numba-cuda fails in several ways where its libraries are missing)
            raise _missing("numba-cuda", '"numba-cuda[cu13]"', error) from error
        fn = getattr(fn, "py_func", fn)
        options = {"lineinfo": True, "debug": False, "fastmath": False, **options}
        sm = sm_number(sm)
        cc = (sm // 10, sm % 10)
        with _compiling_for(cc):
            self.ptx, _ = _any(cuda).compile(fn, signature, cc=cc, device=False, abi="numba", output="ptx", **options)
        self.races = races
        # Numba makes a cooperative launch if the kernel uses the group of the grid.
        self.cooperative = "cudaCG" in self.ptx
        self._arguments = Arguments(fn, signature)
        self.kernel = _only(parse_ptx(self.ptx, f"{fn.__name__}.ptx"))._labelled(fn.__name__, self._arguments.labels)

    def __getitem__(self, shape: Tuple[Any, ...]) -> Callable[..., None]:
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise ValueError("a launch is kernel[grid, block], kernel[grid, block, stream] or kernel[grid, block, stream, shared]")
        grid, block, *rest = shape
        defaults: List[Any] = [None, 0]
        stream, shared = rest + defaults[len(rest) :]
        if not is_default_stream(stream):
            raise ValueError(f"stream is {stream!r}; halfbyte only supports the default stream: give 0 or None")
        return lambda *args: self(*args, grid=grid, block=block, shared=shared)

    def __call__(
        self, *args: Any, grid: _Grid, block: _Grid, shared: int = 0, races: Optional[_Races] = None, cooperative: Optional[bool] = None
    ) -> None:
        races = self.races if races is None else races
        cooperative = self.cooperative if cooperative is None else cooperative
        self.kernel(*self._arguments.flatten(args), grid=grid, block=block, shared=shared, races=races, cooperative=cooperative)


def numba(fn: Any, signature: Any, *, sm: _Sm = 80, races: _Races = False, **options: Any) -> NumbaKernel:
    """Wraps a Numba CUDA function, which runs without a GPU: `hb.numba(fn, "void(float32[::1], float32[::1])")[grid, block](x, y)`.

    `fn` is a plain function or the result of `@cuda.jit`. Arguments must have the types of the signature; an array with another dtype,
    number of axes or layout raises `TypeError`. In `[grid, block, stream, shared]`, `stream` must be the default stream, `0` or `None`,
    and `shared` is the size of dynamic shared memory in bytes. `options` are those of `numba.cuda.compile`. With `races`, races and
    missing barriers are detected and reported with the line of the function. As in Numba, the launch of a kernel that calls
    `cuda.cg.this_grid()` is cooperative.
    """
    return NumbaKernel(fn, signature, sm, races, **options)


@contextlib.contextmanager
def _compiling_for(cc: Tuple[int, int]) -> Iterator[None]:
    """Makes Numba compile the functions that a kernel calls for `cc`. Otherwise Numba asks the driver for the GPU."""
    from numba.cuda import compiler, dispatcher  # type: ignore[import-untyped, import-not-found, unused-ignore]

    device = SimpleNamespace(compute_capability=cc)
    modules = [module for module in (_any(compiler), _any(dispatcher)) if hasattr(module, "get_current_device")]
    before = [module.get_current_device for module in modules]
    for module in modules:
        module.get_current_device = lambda: device
    try:
        yield
    finally:
        for module, function in zip(modules, before):
            module.get_current_device = function


def _any(module: Any) -> Any:
    """Returns a module as an untyped object, because the type stubs of the module are incomplete."""
    return module


def _only(module: Module) -> Kernel:
    return next(iter(module.values()))


# Kernels in CUDA C++, which NVRTC compiles.


def cuda(
    source: str, entry: Optional[str] = None, *, sm: _Sm = 80, options: Sequence[str] = (), file: str = "<cuda>"
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
        return _named_as_in(source, _only(module))
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
    raise _missing("NVRTC", "nvidia-cuda-nvrtc", error)
