"""Arithmetic of kernels on arrays: halves with every rounding mode, saturating and averaging integers.

Each function takes arrays of the same dtype, broadcasts them, and returns a new array. Halves are float16 or `ml_dtypes.bfloat16`; an operation
on them is exact and rounded once. Integers have 8, 16 or 32 bits, and the dtype determines their signedness.

>>> import numpy as np
>>> import halfbyte as hb
>>> hb.np.add(np.float16(1), np.float16(2**-11), rounding="rp")
array(1.001, dtype=float16)
>>> hb.np.add_sat(np.uint8([250, 7]), np.uint8([10, 7]))
array([255,  14], dtype=uint8)
>>> hb.np.avg(np.int8([-3, 5]), np.int8([0, 6]))
array([-2,  6], dtype=int8)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Optional, Tuple

import numpy as _np

from ._halfbyte import Kernel as _Kernel
from ._halfbyte import parse as _parse
from ._halfbyte import refuse_masked_array as _refuse_masked_array

__all__ = ["absdiff", "add", "add_sat", "avg", "fma", "max", "min", "mul", "sub", "sub_sat"]

_ROUNDINGS = ("rn", "rz", "rp", "rm")

#: Lane type, lanes per word, and signedness of integers, by dtype.
_LANES = {
    "float16": ("f16", 2, None),
    "bfloat16": ("bf16", 2, None),
    "int8": ("i8", 4, True),
    "uint8": ("i8", 4, False),
    "int16": ("i16", 2, True),
    "uint16": ("i16", 2, False),
    "int32": ("i32", 1, True),
    "uint32": ("i32", 1, False),
}

_NAMES = "abc"


@lru_cache(maxsize=None)
def _kernel(op: str, modifiers: str, lane: str, lanes: int, operands: int) -> _Kernel:
    """Returns a kernel that applies an op elementwise."""
    ty = lane if lanes == 1 else f"{lane}x{lanes}"
    names = _NAMES[:operands]
    params = ", ".join(f"%{name}: in {ty}" for name in names)
    loads = "\n".join(f"  %v{name} = load %{name}[%i]" for name in names)
    values = ", ".join(f"%v{name}" for name in names)
    text = f"""kernel @{op}({params}, %r: out {ty}) {{
^entry:
  %i = item_id
{loads}
  %v = {op}{modifiers}.{ty} {values}
  store %v, %r[%i]
  ret
}}"""
    return _parse(text, f"<halfbyte.np {op}>")[op]


def _run(op: str, modifiers: str, arrays: Tuple[_np.ndarray, ...]) -> _np.ndarray:
    lane, lanes, _ = _LANES[arrays[0].dtype.name]
    shape = arrays[0].shape
    flat = [array.reshape(-1) for array in arrays]
    count = flat[0].size
    # If the number of elements is not a multiple of the lane count, the kernel computes on scalars.
    lanes = lanes if count % lanes == 0 else 1
    kernel = _kernel(op, modifiers, lane, lanes, len(arrays))
    result = _np.empty(count, arrays[0].dtype)
    kernel(*flat, result, items=count // lanes)
    return result.reshape(shape)


def _arrays(given: Tuple[Any, ...], kinds: str) -> Tuple[_np.ndarray, ...]:
    """Converts the operands to C-contiguous arrays of the same shape and dtype."""
    for number, value in enumerate(given):
        _refuse_masked_array(value, f"operand {number + 1} takes an array or a number")
    arrays = [_np.asarray(value) for value in given]
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) != 1:
        raise TypeError(f"operands must have the same dtype; {', '.join(sorted(map(str, dtypes)))} were given")
    dtype = arrays[0].dtype
    if dtype.name not in _LANES or (_LANES[dtype.name][2] is None) != (kinds == "halves") and kinds != "both":
        takes = {"halves": "float16 or bfloat16", "integers": "integers of 8 to 32 bits", "both": "halves or integers"}[kinds]
        raise TypeError(f"operands must be {takes}; {dtype} was given")
    return tuple(_np.ascontiguousarray(array) for array in _np.broadcast_arrays(*arrays))


def _reshaped(given: Tuple[Any, ...], result: _np.ndarray) -> _np.ndarray:
    """Gives a result the broadcast shape of its operands. C-contiguous copies of scalars have an additional axis."""
    return result.reshape(_np.broadcast_shapes(*(_np.shape(value) for value in given)))


def _halves(op: str, given: Tuple[Any, ...], rounding: str, ftz: bool, sat: bool, relu: bool) -> _np.ndarray:
    if rounding not in _ROUNDINGS:
        raise ValueError(f"rounding is {rounding!r}; give one of {', '.join(_ROUNDINGS)}")
    if sat and relu:
        raise ValueError("sat and relu cannot be combined; give one of them")
    modifiers = f".{rounding}" + ".ftz" * ftz + ".sat" * sat + ".relu" * relu
    return _reshaped(given, _run(op, modifiers, _arrays(given, "halves")))


def _integers(op: str, given: Tuple[Any, ...]) -> _np.ndarray:
    arrays = _arrays(given, "integers")
    signed = _LANES[arrays[0].dtype.name][2]
    return _reshaped(given, _run(f"{op}_{'s' if signed else 'u'}", "", arrays))


def add(x: Any, y: Any, *, rounding: str = "rn", ftz: bool = False, sat: bool = False, relu: bool = False) -> _np.ndarray:
    """Returns `x + y` of halves, rounded once: `"rn"` to nearest with ties to even, `"rz"` toward zero, `"rp"` up, `"rm"` down.

    `ftz` flushes subnormal operands and results to zeros of the same sign. `sat` clamps to [0, 1] and maps NaN to 0. `relu` clamps
    negative results to 0.
    """
    return _halves("fadd", (x, y), rounding, ftz, sat, relu)


def sub(x: Any, y: Any, *, rounding: str = "rn", ftz: bool = False, sat: bool = False, relu: bool = False) -> _np.ndarray:
    """Returns `x - y` of halves, rounded once; keywords as in `add`."""
    return _halves("fsub", (x, y), rounding, ftz, sat, relu)


def mul(x: Any, y: Any, *, rounding: str = "rn", ftz: bool = False, sat: bool = False, relu: bool = False) -> _np.ndarray:
    """Returns `x * y` of halves, rounded once; keywords as in `add`."""
    return _halves("fmul", (x, y), rounding, ftz, sat, relu)


def fma(
    x: Any, y: Any, z: Any, *, rounding: str = "rn", ftz: bool = False, sat: bool = False, relu: bool = False
) -> _np.ndarray:
    """Returns `x * y + z` of halves, rounded once; keywords as in `add`."""
    return _halves("ffma", (x, y, z), rounding, ftz, sat, relu)


def add_sat(x: Any, y: Any) -> _np.ndarray:
    """Returns `x + y` of integers, saturated to the range of the dtype."""
    return _integers("add_sat", (x, y))


def sub_sat(x: Any, y: Any) -> _np.ndarray:
    """Returns `x - y` of integers, saturated to the range of the dtype."""
    return _integers("sub_sat", (x, y))


def avg(x: Any, y: Any) -> _np.ndarray:
    """Returns the average of integers without overflow, rounded like `avg_u` or `avg_s` of the IR."""
    return _integers("avg", (x, y))


def absdiff(x: Any, y: Any) -> _np.ndarray:
    """Returns `|x - y|` of integers, in the same dtype."""
    return _integers("absdiff", (x, y))


def _extreme(op: str, given: Tuple[Any, ...], nan: Optional[bool]) -> _np.ndarray:
    arrays = _arrays(given, "both")
    signed = _LANES[arrays[0].dtype.name][2]
    if signed is None:
        return _reshaped(given, _run(f"f{op}", ".nan" if nan else "", arrays))
    return _reshaped(given, _run(f"{op}_{'s' if signed else 'u'}", "", arrays))


def min(x: Any, y: Any, *, nan: bool = False) -> _np.ndarray:  # noqa: A001
    """Returns the minimum of halves or integers. If one operand is NaN, returns the other, or with `nan` the NaN."""
    return _extreme("min", (x, y), nan)


def max(x: Any, y: Any, *, nan: bool = False) -> _np.ndarray:  # noqa: A001
    """Returns the maximum of halves or integers. If one operand is NaN, returns the other, or with `nan` the NaN."""
    return _extreme("max", (x, y), nan)
