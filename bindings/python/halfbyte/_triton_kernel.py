"""Launches of single Triton functions on arrays, without an installation of the Triton plug-in.

Triton is imported at its first use. Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import view
from ._compilers import Grid, Races, Sm, missing
from ._halfbyte import refuse_masked_array, whole_number
from ._settings import capability
from ._triton_memory import ArrayTensor

__all__ = ["TritonKernel", "triton"]

_GridOrFunction = Union[Grid, Callable[[Mapping[str, Any]], Grid]]
#: Copies the contents of an array back to the object of another package.
_PutBack = Callable[[], Any]


class TritonKernel:
    """Triton function, run by halfbyte. A call, or `kernel[grid](...)` as in Triton, compiles it for the argument types and runs it.

    `ptx(...)` returns the PTX instead.
    """

    def __init__(
        self, fn: Any, sm: Optional[Sm] = None, num_warps: Optional[int] = None, races: Optional[Races] = None, **options: Any
    ) -> None:
        try:
            import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
        except ImportError as error:
            raise missing("triton", "triton", error) from error
        jit = fn
        while not hasattr(jit, "params"):
            jit = getattr(jit, "fn", None)
            if jit is None:
                reason = "; unset TRITON_INTERPRET" if type(fn).__name__ == "InterpretedFunction" else ""
                raise TypeError(f"hb.triton takes a function under @triton.jit; a {type(fn).__name__} was given{reason}")
        self.fn = fn
        self.sm = sm if sm is None else capability(sm)
        if num_warps is not None:
            if whole_number(num_warps, "num_warps", 1, 32).bit_count() != 1:
                raise ValueError(f"num_warps is {num_warps}; give a power of two from 1 to 32")
            options = {"num_warps": num_warps, **options}
        for name in ("num_stages", "num_ctas", "maxnreg"):
            if options.get(name) is not None:
                whole_number(options[name], name, 0 if name == "num_stages" else 1, 2**16)
        self.options = options
        self.races = races
        self._name: str = jit.__name__
        self._arg_names: List[str] = [param.name for param in jit.params]
        self._constants: List[str] = [param.name for param in jit.params if param.is_constexpr]

    def __getitem__(self, grid: _GridOrFunction) -> Callable[..., None]:
        return lambda *args, **kwargs: self(*args, grid=grid, **kwargs)

    def __call__(self, *args: Any, grid: _GridOrFunction, races: Optional[Races] = None, **kwargs: Any) -> None:
        put_back: List[_PutBack] = []
        args, kwargs = self._tensors(args, kwargs, put_back)
        with self._session(args, kwargs, self.races if races is None else races):
            self.fn.run(*args, grid=_grid(grid), warmup=False, **{**self.options, **kwargs})
        for put in put_back:
            put()

    def ptx(self, *args: Any, **kwargs: Any) -> str:
        """Returns the PTX for arguments of these types."""
        args, kwargs = self._tensors(args, kwargs, [])
        with self._session(args, kwargs, None):
            compiled = self.fn.warmup(*args, grid=(1,), **{**self.options, **kwargs})
        if isinstance(compiled, list):  # of an autotuned function
            compiled = compiled[0]
        return str(compiled.asm["ptx"])

    def _tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any], put_back: List[_PutBack]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        """Returns the arguments, in which an object that Triton takes for a tensor replaces each array."""
        names = [*self._arg_names, *[""] * len(args)]
        positional = tuple(self._tensor(name, value, put_back) for name, value in zip(names, args))
        return positional, {name: self._tensor(name, value, put_back) for name, value in kwargs.items()}

    def _tensor(self, name: str, value: Any, put_back: List[_PutBack]) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic) or hasattr(value, "data_ptr"):
            return value
        if name in self._constants:
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, tuple):
            parts = [self._tensor(f"{name}[{at}]", part, put_back) for at, part in enumerate(value)]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        refuse_masked_array(value, f"`{name}` of @{self._name} takes an array")
        array: Any = value
        if not isinstance(value, np.ndarray):
            array, put = view(value)
            if array is None:
                return value
            if put is not None:
                put_back.append(put)
        return _array_tensor(name, self._name, array)

    def _session(self, args: Sequence[Any], kwargs: Mapping[str, Any], races: Optional[Races]) -> Any:
        """Returns a context in which halfbyte executes the launches of this thread."""
        from . import _triton_driver

        settings = dataclasses.replace(_triton_driver.default_settings(), keep_going=False)
        if self.sm is not None:
            settings = dataclasses.replace(settings, sm=capability(self.sm))
        if races is not None:
            settings = dataclasses.replace(settings, races=races)
        values = {**dict(zip(self._arg_names, args)), **kwargs}
        # Triton looks up compiled kernels by keys in which `2`, `2.0` and `True` are equal.
        constants = tuple(_exact(values[name]) for name in self._constants if name in values)
        return _triton_driver.thread_session(_triton_driver.Session(settings, constants))


def _array_tensor(name: str, kernel: str, array: np.ndarray) -> ArrayTensor:
    try:
        from triton._utils import type_canonicalisation_dict as types  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:  # before Triton 3.3
        from triton.runtime.jit import type_canonicalisation_dict as types  # type: ignore[import-untyped, import-not-found, unused-ignore]
    if str(array.dtype) not in types:
        raise TypeError(f"`{name}` of @{kernel} has dtype {array.dtype}, which Triton does not support")
    return ArrayTensor(array)


def _grid(grid: _GridOrFunction) -> Any:
    """Returns a grid as Triton takes it: a tuple, or a function that returns a tuple."""
    if callable(grid):
        function = grid
        return lambda meta: _counts(function(meta))
    return _counts(grid)


def _counts(grid: Grid) -> Tuple[int, ...]:
    counts = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    if not 1 <= len(counts) <= 3:
        raise ValueError(f"grid has {len(counts)} axes; give one, two or three")
    return tuple(whole_number(count, "grid", 0, 2**31 - 1) for count in counts)


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


def triton(
    fn: Any, *, sm: Optional[Sm] = None, num_warps: Optional[int] = None, races: Optional[Races] = None, **options: Any
) -> TritonKernel:
    """Wraps a Triton function, which runs without a GPU on arrays for its pointers: `hb.triton(fn)[grid](x, y, n, BLOCK=128)`.

    `fn` is the result of `@triton.jit`, `@triton.autotune` or `@triton.heuristics`. Pointers are NumPy arrays or tensors on the CPU, also
    strided and transposed ones, whose strides the caller passes as in Triton. The function is compiled for `sm` when it is called with
    new argument types. The default of `sm` is 80, or the value of `HALFBYTE_SM`. `options` are Triton's (`num_stages`, ...); they can
    also be given at the launch. With `launch_cooperative_grid=True`, all blocks are resident, so that blocks can wait for each other.

    With `races`, races are detected and reported with the line of the function. In Triton's reductions several threads store the same
    value to the same address of shared memory, which gives a `RaceWarning`. With `races="strict"`, these stores are an error, too.
    """
    return TritonKernel(fn, sm, num_warps, races, **options)
