"""Kernels that Numba compiles to PTX, executed directly.

Numba is imported at its first use. Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import contextlib
import re
import struct
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, overload

import numpy as np

from ._arrays import view
from ._compilers import Grid, Races, Sm, missing, only_kernel
from ._halfbyte import parse_ptx, sm_number
from ._numba_args import Arguments, Reversed, is_default_stream, memory_of
from ._numba_lines import link_with_other_compilers

__all__ = ["LazyNumbaKernel", "NumbaKernel", "numba"]


#: Names of external functions that halfbyte implements itself. All other external functions must be linked.
_OWN_FUNCTIONS = re.compile(r"vprintf|malloc|free|__assertfail|cuda\w+|__nv\w+")

_EXTERNAL = re.compile(r"^\s*\.extern\s+\.func\s*(?:\([^)]*\)\s*)?([\w$]+)", re.MULTILINE)


class NumbaKernel:
    """Numba CUDA function, run by halfbyte: `kernel[grid, block](...)`, or a call with `grid=` and `block=`. `ptx` is its PTX."""

    def __init__(self, fn: Any, signature: Any, sm: Sm = 80, races: Races = False, **options: Any) -> None:
        fn = getattr(fn, "py_func", fn)
        sm = sm_number(sm)
        self.ptx = _ptx(fn, signature, (sm // 10, sm % 10), options)
        self.races = races
        # Numba makes a cooperative launch if the kernel uses the group of the grid.
        self.cooperative = "cudaCG" in self.ptx
        self._arguments = Arguments(fn, signature)
        self._file = f"{fn.__name__}.ptx"
        self.kernel = only_kernel(parse_ptx(self.ptx, self._file))._labelled(fn.__name__, self._arguments.labels)
        self._on_host: Any = None

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
        self, *args: Any, grid: Grid, block: Grid, shared: int = 0, races: Optional[Races] = None, cooperative: Optional[bool] = None
    ) -> None:
        races = self.races if races is None else races
        cooperative = self.cooperative if cooperative is None else cooperative
        given = self._arguments.flatten(args)
        launch: Dict[str, Any] = {"grid": grid, "block": block, "shared": shared, "races": races, "cooperative": cooperative}
        if any(isinstance(value, Reversed) for value in given):
            self._launch_on_host(given, launch)
        else:
            self.kernel(*given, **launch)

    def _launch_on_host(self, given: Sequence[Any], launch: Dict[str, Any]) -> None:
        """Launches the kernel with addresses, because the first element of a reversed array is not at the start of the array's memory."""
        from ._halfbyte import HostKernel

        if self._on_host is None:
            entry = next(iter(parse_ptx(self.ptx, self._file)))
            self._on_host = HostKernel(self.ptx, entry, self._file)
        memory: List[Tuple[int, int]] = []
        words: List[Any] = []
        for value, size in zip(given, self._on_host.params):
            array = value.array if isinstance(value, Reversed) else value if isinstance(value, np.ndarray) else view(value)[0]
            if array is not None and array.ndim:
                memory.append(memory_of(array))
                words.append(value.address if isinstance(value, Reversed) else array.__array_interface__["data"][0])
            elif isinstance(value, float):
                words.append(struct.pack("<f" if size == 4 else "<d", value))
            elif isinstance(value, np.generic):
                words.append(value.tobytes())
            else:
                words.append(int(value) % (1 << 8 * size))
        self._on_host.launch(words, memory=_merged(memory), **launch)


def _merged(ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Merges ranges of addresses that overlap, such as those of two views of an array."""
    merged: List[Tuple[int, int]] = []
    for start, size in sorted(ranges):
        if merged and start < sum(merged[-1]):
            first, length = merged[-1]
            merged[-1] = (first, max(first + length, start + size) - first)
        else:
            merged.append((start, size))
    return merged


class LazyNumbaKernel:
    """Numba CUDA function without a signature, which is compiled for the types of the arguments of each launch."""

    def __init__(self, fn: Any, sm: Sm, races: Races, **options: Any) -> None:
        self._fn = getattr(fn, "py_func", fn)
        self._options: Dict[str, Any] = {"sm": sm_number(sm), "races": races, **options}
        self._kernels: Dict[Any, NumbaKernel] = {}

    def kernel_for(self, *args: Any) -> NumbaKernel:
        """Returns the kernel for the types of arguments."""
        typeof = _numba().typeof
        types = tuple(typeof(_array_of(arg)) for arg in args)
        if types not in self._kernels:
            self._kernels[types] = NumbaKernel(self._fn, types, **self._options)
        return self._kernels[types]

    def __getitem__(self, shape: Tuple[Any, ...]) -> Callable[..., None]:
        return lambda *args: self.kernel_for(*args)[shape](*args)

    def __call__(self, *args: Any, **launch: Any) -> None:
        self.kernel_for(*args)(*args, **launch)


@overload
def numba(fn: Any, signature: None = None, *, sm: Sm = 80, races: Races = False, **options: Any) -> LazyNumbaKernel: ...
@overload
def numba(fn: Any, signature: Any, *, sm: Sm = 80, races: Races = False, **options: Any) -> NumbaKernel: ...
def numba(fn: Any, signature: Any = None, *, sm: Sm = 80, races: Races = False, **options: Any) -> Any:
    """Wraps a Numba CUDA function, which runs without a GPU: `hb.numba(fn, "void(float32[::1], float32[::1])")[grid, block](x, y)`.

    `fn` is a plain function or the result of `@cuda.jit`. Arguments must have the types of the signature; an array with another dtype,
    number of axes or layout raises `TypeError`. Without a signature, each launch uses the types of its arguments. In
    `[grid, block, stream, shared]`, `stream` must be the default stream, `0` or `None`, and `shared` is the size of dynamic shared memory
    in bytes. `options` are those of `numba.cuda.compile`. With `races`, races and missing barriers are detected and reported with the
    line of the function. As in Numba, the launch of a kernel that calls `cuda.cg.this_grid()` is cooperative.
    """
    if signature is None:
        return LazyNumbaKernel(fn, sm, races, **options)
    return NumbaKernel(fn, signature, sm, races, **options)


def _numba() -> Any:
    """Returns the module `numba`, after the import of `numba.cuda`."""
    try:
        import numba  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from numba import cuda  # noqa: F401  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except Exception as error:  # noqa: BLE001 (numba-cuda fails in several ways where its libraries are missing)
        raise missing("numba-cuda", '"numba-cuda[cu13]"', error) from error
    return numba


def _array_of(value: Any) -> Any:
    """Returns the NumPy array of an array of another package, and other values as they are."""
    if isinstance(value, (np.ndarray, np.generic, tuple, int, float, complex)):
        return value
    array = view(value)[0]
    return value if array is None else array


def _ptx(fn: Any, signature: Any, cc: Tuple[int, int], options: Dict[str, Any]) -> str:
    """Compiles a function, and links the files that it needs."""
    cuda = _numba().cuda
    options = {"lineinfo": True, "debug": False, "fastmath": False, **options}
    with _compiling_for(cc):
        ptx, _ = cuda.compile(fn, signature, cc=cc, device=False, abi="numba", output="ptx", **options)
        if all(_OWN_FUNCTIONS.fullmatch(name) for name in _EXTERNAL.findall(ptx)):
            return str(ptx)
        # Intrinsics such as those of `cuda.fp16` are in other files. Only a link of LTO-IR gives PTX that contains these intrinsics.
        link_with_other_compilers()
        from numba.cuda.cudadrv import driver  # type: ignore[import-untyped, import-not-found, unused-ignore]

        codes, _ = cuda.compile_all(fn, signature, cc=cc, device=False, abi="numba", output="ltoir", **options)
        linker = _any(driver)._Linker(cc=cc, lto=True)
        for code in codes:
            if isinstance(code, bytes):
                linker.add_ltoir(code)
            elif hasattr(code, "kind"):
                linker.add_file_guess_ext(code)
            else:
                linker._object_codes.append(code)
                linker._has_ltoir = True
        return bytes(linker.get_linked_ptx()).rstrip(b"\0").decode()


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
