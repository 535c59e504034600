"""Kernels that Triton compiles to PTX, executed directly.

Triton is imported at its first use. Errors state the source line from the compiler's `.loc` directives.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._compilers import Grid, Races, Sm, missing
from ._halfbyte import Kernel, parse_ptx, sm_number, whole_number

__all__ = ["TritonKernel", "triton"]

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

    def __init__(self, fn: Any, sm: Sm = 80, num_warps: int = 4, races: Races = False, **options: Any) -> None:
        try:
            import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: F401
        except ImportError as error:
            raise missing("triton", "triton", error) from error
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

    def __getitem__(self, grid: Grid) -> Callable[..., None]:
        return lambda *args, **kwargs: self(*args, grid=grid, **kwargs)

    def __call__(self, *args: Any, grid: Union[Grid, Callable[[Mapping[str, Any]], Grid]], races: Optional[Races] = None, **kwargs: Any) -> None:
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


def triton(fn: Any, *, sm: Sm = 80, num_warps: int = 4, races: Races = False, **options: Any) -> TritonKernel:
    """Wraps a Triton function (`@triton.jit`), which runs without a GPU on arrays for its pointers: `hb.triton(fn)[grid](x, y, n, BLOCK=128)`.

    The function is compiled for `sm` when it is called with new argument types. `options` are Triton's (`num_stages`, ...); with
    `launch_cooperative_grid=True`, all blocks are resident, so that blocks can wait for each other. With `races`,
    races are detected and reported with the line of the function. In Triton's reductions several threads store the same value to the
    same address of shared memory, which gives a `RaceWarning`. With `races="strict"`, these stores are an error, too.
    """
    return TritonKernel(fn, sm, num_warps, races, **options)
