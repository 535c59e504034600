"""Kernels that Numba compiles to PTX, executed directly.

Numba is imported at its first use. Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any, Callable, Iterator, List, Optional, Tuple

from ._compilers import Grid, Races, Sm, missing, only_kernel
from ._halfbyte import parse_ptx, sm_number
from ._numba_args import Arguments, is_default_stream

__all__ = ["NumbaKernel", "numba"]


class NumbaKernel:
    """Numba CUDA function, run by halfbyte: `kernel[grid, block](...)`, or a call with `grid=` and `block=`. `ptx` is its PTX."""

    def __init__(self, fn: Any, signature: Any, sm: Sm = 80, races: Races = False, **options: Any) -> None:
        try:
            from numba import cuda  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except Exception as error:  # noqa: BLE001 (numba-cuda fails in several ways where its libraries are missing)
            raise missing("numba-cuda", '"numba-cuda[cu13]"', error) from error
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
        self.kernel = only_kernel(parse_ptx(self.ptx, f"{fn.__name__}.ptx"))._labelled(fn.__name__, self._arguments.labels)

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
        self.kernel(*self._arguments.flatten(args), grid=grid, block=block, shared=shared, races=races, cooperative=cooperative)


def numba(fn: Any, signature: Any, *, sm: Sm = 80, races: Races = False, **options: Any) -> NumbaKernel:
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
