"""Checks of Numba kernel arguments against the signature, and their flattening to the parameters of Numba's PTX."""

from __future__ import annotations

import ctypes
import inspect
import operator
from typing import Any, Callable, Iterator, List, NoReturn, Sequence, Tuple

import numpy as np

from ._arrays import view
from ._halfbyte import refuse_masked_array

#: Handles of the default stream: none, and the driver's legacy and per-thread default streams.
_DEFAULT_STREAMS = (None, 0, 1, 2)


class Arguments:
    """Argument types of a function, from its signature."""

    def __init__(self, fn: Callable[..., Any], signature: Any) -> None:
        from numba.core import sigutils, types  # type: ignore[import-untyped, import-not-found, unused-ignore]

        self.kernel = fn.__name__
        self.names = list(inspect.signature(fn).parameters)
        normalize: Any = sigutils.normalize_signature
        self.types: Sequence[Any] = normalize(signature)[0]
        self._types = types

    @property
    def labels(self) -> List[str]:
        """Names of the PTX parameters in messages. The address of an array has the argument's name."""
        return [label for name, declared in zip(self.names, self.types) for label in self._labels(name, declared)]

    def _labels(self, name: str, declared: Any) -> Iterator[str]:
        if isinstance(declared, self._types.Array):
            yield from (f"{name}.{field}" for field in ("parent", "meminfo", "size", "itemsize"))
            yield name
            yield from (f"{name}.{field}[{axis}]" for field in ("shape", "strides") for axis in range(declared.ndim))
        elif isinstance(declared, self._types.BaseTuple):
            for index, part in enumerate(_parts(declared)):
                yield from self._labels(f"{name}[{index}]", part)
        elif isinstance(declared, self._types.Complex):
            yield from (f"{name}.real", f"{name}.imag")
        else:
            yield name

    def flatten(self, values: Sequence[Any]) -> List[Any]:
        """Returns a value for each PTX parameter."""
        if len(values) != len(self.types):
            takes = f"{len(self.types)} argument{'' if len(self.types) == 1 else 's'}: {', '.join(self.names) or 'none'}"
            raise TypeError(f"@{self.kernel} takes {takes}; {len(values)} were given")
        return [part for name, declared, value in zip(self.names, self.types, values) for part in self._flatten(name, declared, value)]

    def _flatten(self, name: str, declared: Any, value: Any) -> List[Any]:
        types = self._types
        of = _Argument(f"`{name}` of @{self.kernel} takes {_spelt(declared)}", declared, value)
        if isinstance(declared, types.Array):
            return of.array()
        if isinstance(declared, types.Record):
            return of.record()
        if isinstance(declared, types.Complex):
            return of.complex_number()
        if isinstance(declared, types.BaseTuple):
            parts = _parts(declared)
            if not isinstance(value, tuple) or len(value) != len(parts):
                of.wrong(f"a tuple of {len(value)}" if isinstance(value, tuple) else _described(value))
            flattened = (self._flatten(f"{name}[{index}]", *part) for index, part in enumerate(zip(parts, value)))
            return [part for flat in flattened for part in flat]
        return [of.scalar(types)]


class _Argument:
    """Value of an argument, with its declared type."""

    def __init__(self, what: str, declared: Any, value: Any) -> None:
        self.what = what
        self.declared = declared
        self.value = value
        refuse_masked_array(value, what)

    def wrong(self, given: str) -> NoReturn:
        raise TypeError(f"{self.what}; {given} was given")

    def out_of_range(self, least: Any, most: Any) -> NoReturn:
        raise ValueError(f"{self.what}, a number from {least} to {most}; {self.value!r} was given")

    def array(self) -> List[Any]:
        """Returns the fields of an array in the order of `numba.core.datamodel`."""
        value, declared = self.value, self.declared
        array = value if isinstance(value, np.ndarray) else view(value)[0]
        if array is None:
            self.wrong(_described(value))
        is_layout = {"C": array.flags.c_contiguous, "F": array.flags.f_contiguous}.get(declared.layout, True)
        if not _is_dtype(array.dtype, declared.dtype) or array.ndim != declared.ndim or not is_layout:
            self.wrong(f"an array of type {_spelt_array(array.dtype, array.ndim, _layout(array))}")
        # `data` is a C-contiguous view of the memory, which the kernel uses in place.
        data: Any = array
        if array.size and min(array.strides, default=0) < 0:
            data = Reversed(array)
        elif not array.flags.c_contiguous or array.dtype.kind in "cV":
            data = _memory(array)
        elif array.ndim == 0:
            data = array.reshape(1)
        elif not isinstance(value, np.ndarray):
            data = value
        # The first two fields of Numba's array structure, the parent object and the memory
        # information, are null.
        return [0, 0, array.size, array.itemsize, data, *array.shape, *array.strides]

    def record(self) -> List[Any]:
        """Returns the memory of a record."""
        dtype = getattr(self.value, "dtype", None)
        if not isinstance(self.value, np.void) or dtype is None or not _is_dtype(dtype, self.declared):
            self.wrong(_described(self.value) if dtype is None else f"a value of type {dtype}")
        return [_memory(np.asarray(self.value)) if self.value.base is None else _memory(np.ndarray((1,), dtype, self.value.data))]

    def complex_number(self) -> List[Any]:
        """Returns the real and the imaginary part."""
        if isinstance(self.value, (str, bytes)) or not hasattr(self.value, "__complex__") and _kind(self.value) is None:
            self.wrong(_described(self.value))
        number = complex(self.value)
        part = self.declared.underlying_float
        return [_Argument(self.what, part, of)._float("f") for of in (number.real, number.imag)]

    def scalar(self, types: Any) -> Any:
        """Returns the integer value, after a check that it is in the range of the declared type."""
        value, declared = self.value, self.declared
        kind = _kind(value)
        if not isinstance(declared, (types.Boolean, types.Integer, types.Float)):
            raise TypeError(f"{self.what}, and no argument of this type can be passed: give its parts as numbers or in an array")
        if kind is None:
            self.wrong(_described(value))
        if isinstance(declared, types.Float):
            return self._float(kind)
        if kind == "f":
            self.wrong(_described(value))
        number = int(value) if kind == "b" else operator.index(value)
        if isinstance(declared, types.Boolean):
            least, most = 0, 1
        elif declared.signed:
            least, most = -(1 << declared.bitwidth - 1), (1 << declared.bitwidth - 1) - 1
        else:
            least, most = 0, (1 << declared.bitwidth) - 1
        if not least <= number <= most:
            self.out_of_range(least, most)
        return number

    def _float(self, kind: str) -> Any:
        """Returns the number of the declared type that is nearest to the value. An integer must be exact."""
        try:
            dtype = np.dtype(str(self.declared))
        except TypeError:
            self.wrong(f"{_described(self.value)}, which NumPy cannot round to it,")
        most = float(np.finfo(dtype).max)
        try:
            number = float(self.value)
        except OverflowError:
            self.out_of_range(-most, most)
        with np.errstate(over="ignore"):
            nearest = dtype.type(number)
        if np.isinf(nearest) and not np.isinf(number):
            self.out_of_range(-most, most)
        if kind != "f" and int(nearest) != int(self.value):
            raise ValueError(f"{self.what}, which has no number {self.value!r}; the nearest is {int(nearest)}")
        # A half is passed as 16 bits, because PTX parameters cannot have a half type.
        return nearest if dtype.itemsize == 2 else float(nearest)


class Reversed:
    """Array with negative strides. Its first element is not at the start of its memory."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.address: int = array.__array_interface__["data"][0]


def memory_of(array: np.ndarray) -> Tuple[int, int]:
    """Returns the address and the number of bytes of the memory that the elements of an array lie in."""
    address: int = array.__array_interface__["data"][0]
    if not array.size:
        return address, 0
    reaches = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
    first = address + sum(reach for reach in reaches if reach < 0)
    return first, address + sum(reach for reach in reaches if reach > 0) + array.itemsize - first


def _memory(array: np.ndarray) -> Any:
    """Returns the bytes that the elements of an array lie in, as an array in the same memory."""
    address, size = memory_of(array)
    held: Any = (ctypes.c_uint8 * size).from_address(address)
    # The view keeps the memory alive.
    held.array = array
    memory: Any = np.frombuffer(held, np.uint8)
    memory.flags.writeable = array.flags.writeable
    return memory


def _parts(declared: Any) -> Sequence[Any]:
    """Returns the types of the elements of a tuple type."""
    return tuple(declared)


def is_default_stream(stream: Any) -> bool:
    """Returns `True` if the stream is the default stream."""
    if stream is None or type(stream) is int:
        return stream in (None, 0)
    handle = getattr(stream, "handle", getattr(stream, "ptr", stream))
    return getattr(handle, "value", handle) in _DEFAULT_STREAMS if handle is not stream else False


def _kind(value: Any) -> Any:
    """Returns `"b"`, `"i"` or `"f"` for a number, else `None`."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        name = str(dtype).replace("torch.", "")
        if getattr(value, "ndim", 0):
            return None
        return "b" if name == "bool" else "i" if name.lstrip("u").startswith("int") else "f" if "float" in name else None
    if isinstance(value, bool):
        return "b"
    return "f" if isinstance(value, float) else "i" if hasattr(value, "__index__") else None


def _described(value: Any) -> str:
    array = value if isinstance(value, np.ndarray) else view(value)[0]
    if array is not None and array.ndim:
        return f"an array of type {_spelt_array(array.dtype, array.ndim, _layout(array))}"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _is_dtype(dtype: Any, declared: Any) -> bool:
    """Returns `True` if the dtype corresponds to the Numba type."""
    from numba.np import numpy_support  # type: ignore[import-untyped, import-not-found, unused-ignore]

    try:
        return bool(dtype == numpy_support.as_dtype(declared))
    except NotImplementedError:
        return str(dtype) == str(declared)


def _layout(array: Any) -> str:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"


def _spelt(declared: Any) -> str:
    """Formats a type as in signatures: `float32[:, ::1]`."""
    if hasattr(declared, "layout"):
        return _spelt_array(declared.dtype, declared.ndim, declared.layout)
    return str(declared)


def _spelt_array(dtype: Any, ndim: int, layout: str) -> str:
    axes = [":"] * ndim
    if axes and layout in "CF":
        axes[-1 if layout == "C" else 0] = "::1"
    return f"{dtype}[{', '.join(axes) or '()'}]"
