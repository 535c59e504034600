"""Memory that a launch of Triton may access: the storages of its arguments, and storages whose addresses the kernel loads from memory."""

from __future__ import annotations

import bisect
import ctypes
import gc
import sys
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

#: Address and number of bytes of an allocation.
Range = Tuple[int, int]


class ArrayTensor:
    """NumPy array with the methods of a tensor that Triton calls for an argument."""

    __slots__ = ("array", "dtype", "shape", "_address", "_range")
    untyped_storage = None

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape
        self._address = int(array.__array_interface__["data"][0])
        self._range = range_of_array(array)

    def data_ptr(self) -> int:
        return self._address

    def memory(self) -> Range:
        return self._range

    def numel(self) -> int:
        return self.array.size

    def element_size(self) -> int:
        return self.array.itemsize

    def dim(self) -> int:
        return self.array.ndim

    def stride(self, axis: Optional[int] = None) -> Any:
        strides = tuple(stride // self.array.itemsize for stride in self.array.strides)
        return strides if axis is None else strides[axis]

    def zero_(self) -> ArrayTensor:
        self.array[...] = 0
        return self

    def clone(self) -> ArrayTensor:
        return ArrayTensor(self.array.copy())

    def copy_(self, other: ArrayTensor) -> ArrayTensor:
        self.array[...] = other.array
        return self

    def __getattr__(self, name: str) -> Any:
        """Returns an attribute of the array, which functions of heuristics and of grids use."""
        return getattr(self.array, name)


class HostBuffer:
    """Zero-initialised memory, for scratch memory of kernels."""

    untyped_storage = None

    def __init__(self, size: int, alignment: int) -> None:
        self._bytes = ctypes.create_string_buffer(size + alignment)
        address = ctypes.addressof(self._bytes)
        self._range = (-(-address // alignment) * alignment, size)

    def data_ptr(self) -> int:
        return self._range[0]

    def memory(self) -> Range:
        return self._range


def range_of_array(array: np.ndarray) -> Range:
    """Returns the memory of a NumPy array: of the array that owns the data, so that strided views are in bounds."""
    base: Any = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    # `byte_bounds` moved in NumPy 2.
    bounds: Callable[[np.ndarray], Tuple[int, int]]
    try:
        bounds = np.lib.array_utils.byte_bounds  # type: ignore[attr-defined, unused-ignore]
    except AttributeError:
        bounds = np.byte_bounds  # type: ignore[attr-defined, unused-ignore]
    start, end = bounds(base)
    own_start, own_end = bounds(array)
    if not start <= own_start <= own_end <= end:
        start, end = own_start, own_end
    return start, (end - start if base.size else 0)


def range_of(value: Any) -> Optional[Range]:
    """Returns the memory of an argument, or `None` if the memory is unknown."""
    if isinstance(value, (ArrayTensor, HostBuffer)):
        return value.memory()
    storage = getattr(value, "untyped_storage", None)
    if storage is not None:
        owner = storage()
        return owner.data_ptr(), owner.nbytes()
    base = getattr(value, "base", None)  # the tensor in a `triton.TensorWrapper`
    if base is not None and hasattr(base, "data_ptr"):
        return range_of(base)
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return value.data_ptr(), size
    if hasattr(value, "numel") and hasattr(value, "element_size"):
        return value.data_ptr(), value.numel() * value.element_size()
    return None


class LiveMemory:
    """Storages of the tensors and arrays of the program, for the lookup of addresses that a kernel loads from memory."""

    def __init__(self) -> None:
        #: Addresses of the storages in ascending order, and the storages with references to their owners.
        self._found: Tuple[List[int], List[Tuple[Range, Callable[[], Any]]]] = ([], [])

    def find(self, address: int, keep: List[Any]) -> Optional[Range]:
        """Returns the memory around an address, and appends its owner to `keep`.

        The list of storages is renewed if it does not contain an address.
        """
        found = self._look_up(address, keep)
        for search in (_live_tensors, _live_arrays):
            if found is None:
                self._store(search())
                found = self._look_up(address, keep)
        return found

    def _look_up(self, address: int, keep: List[Any]) -> Optional[Range]:
        starts, found = self._found
        at = bisect.bisect_right(starts, address)
        for (start, size), reference in reversed(found[max(0, at - 8) : at]):
            if address - start < size:
                owner = reference()
                if owner is not None and range_of_owner(owner) == (start, size):
                    keep.append(owner)
                    return start, size
        return None

    def _store(self, owners: Iterable[Any]) -> None:
        found: Dict[Range, Callable[[], Any]] = {}
        for owner in owners:
            memory = range_of_owner(owner)
            if memory is not None and memory[0] > 0 < memory[1]:
                found[memory] = weakref.ref(owner)
        ordered = sorted(found.items(), key=lambda item: item[0])
        self._found = [start for (start, _), _ in ordered], ordered


def range_of_owner(owner: Any) -> Optional[Range]:
    """Returns the memory of a live tensor or array, or `None` for a tensor without memory."""
    if isinstance(owner, np.ndarray):
        return range_of_array(owner)
    try:
        return range_of(owner)
    except (RuntimeError, NotImplementedError):  # sparse, fake and functional tensors
        return None


def _live_tensors() -> Iterator[Any]:
    """Yields the tensors that the garbage collector knows, and the tensors and arrays of the frames' variables."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    for value in gc.get_objects():
        if issubclass(type(value), tensor):
            yield value
    for value in _frame_values():
        if issubclass(type(value), np.ndarray) or issubclass(type(value), tensor):
            yield value


def _live_arrays() -> Iterator[Any]:
    """Yields the tensors, and the NumPy arrays in containers. The garbage collector only knows the containers of arrays."""
    yield from _live_tensors()
    objects = [*gc.get_objects(), *_frame_values()]
    for at in range(0, len(objects), 4096):
        for value in gc.get_referents(*objects[at : at + 4096]):
            if issubclass(type(value), np.ndarray):
                yield value
            elif type(value) in (dict, tuple) and not gc.is_tracked(value):
                # The garbage collector does not track a container if no object in the container has references.
                yield from (part for part in gc.get_referents(value) if issubclass(type(part), np.ndarray))


def _frame_values() -> Iterable[Any]:
    for frame in sys._current_frames().values():
        at: Any = frame
        while at is not None:
            yield from list(at.f_locals.values())
            at = at.f_back
