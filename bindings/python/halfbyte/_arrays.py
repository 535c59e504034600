"""Conversion of other packages' arrays to NumPy arrays, which the extension module reads.

The extension module calls this only for objects without `__array_struct__`, which NumPy's arrays and scalars have.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import numpy as np

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:  # bfloat16 and float8 are then given as uint16 and uint8
    ml_dtypes = None

_Taken = Tuple[Optional[np.ndarray], Optional[Callable[[], Any]]]

#: Dtypes of new arrays in place of those that NumPy lacks, if `ml_dtypes` is not installed.
_WORDS = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}


def view(value: Any) -> _Taken:
    """Returns the array of an object and a callback that writes it back, or `(None, None)` for other objects."""
    if isinstance(value, (int, float, complex, str, list, tuple, dict, set, type(None))):
        return None, None
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "numpy"):
        return _of_torch(value), None
    if hasattr(value, "__cuda_array_interface__"):
        return _of_gpu(value)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value), None
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value), None
    try:
        return np.asarray(memoryview(value)), None
    except (TypeError, ValueError):
        return None, None


def _of_torch(tensor: Any) -> Any:
    import torch  # type: ignore[import-not-found, unused-ignore]

    if tensor.device.type != "cpu":
        raise TypeError(f"the tensor is on {tensor.device}; give tensor.cpu()")
    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:
        words = tensor.view(torch.int16).numpy()
        return words.view(np.uint16 if ml_dtypes is None else ml_dtypes.bfloat16)
    return tensor.numpy()


def _of_dlpack(value: Any) -> np.ndarray:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"the {type(value).__name__} cannot be used in place: {error}") from error


def _of_gpu(value: Any) -> _Taken:
    """Copies an array from a GPU; the callback copies it back."""
    if not (hasattr(value, "get") and hasattr(value, "set")):
        raise TypeError(f"the {type(value).__name__} is on a GPU; give a copy on the host")
    host = value.get()
    return host, lambda: value.set(host)


def make(dtype: str, items: int, lanes: int) -> np.ndarray:
    """Creates an uninitialised array for an output buffer, which the launch overwrites."""
    shape = (items,) if lanes == 1 else (items, lanes)
    of: Any = dtype
    if dtype in _WORDS:
        of = getattr(ml_dtypes, dtype) if ml_dtypes is not None else _WORDS[dtype]
    return np.empty(shape, of)


def pack_mask(mask: np.ndarray, lanes: int) -> Tuple[np.ndarray, Callable[[], Any]]:
    """Packs a bool array to the bits of a mask type, and returns them with a callback that unpacks them again."""
    if mask.size % lanes or not mask.flags.c_contiguous:
        raise ValueError(f"a mask of {lanes} lanes takes a C-contiguous bool array of shape (n, {lanes}) or (n*{lanes},)")
    rows = mask.reshape(-1, lanes)
    packed = np.packbits(rows, axis=1, bitorder="little")

    def put_back() -> None:
        if mask.flags.writeable:
            rows[...] = np.unpackbits(packed, axis=1, count=lanes, bitorder="little").view(bool)

    return (packed.view(np.uint16) if lanes == 16 else packed), put_back
