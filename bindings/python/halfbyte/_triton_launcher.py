"""Launches of compiled Triton kernels: packs the arguments and calls the engine.

This module imports Triton, so that it is imported only if Triton is used.
"""

from __future__ import annotations

import linecache
import math
import operator
import os
import re
import struct
import sys
import threading
import warnings
from contextlib import nullcontext
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

try:
    from triton.runtime import _allocation  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError:  # before Triton 3.3
    _allocation = None

from . import _findings
from ._errors import Error, RaceWarning, Trap
from ._halfbyte import HostKernel
from ._settings import Settings
from ._triton_memory import HostBuffer, LiveMemory, Range, range_of

#: Appends the bits of a value to the words of a launch.
_Pack = Callable[[Any, "_Arguments"], None]

_live_memory = LiveMemory()
#: Serialises the collection of warnings, because `warnings.catch_warnings` is not safe in threads.
_collecting = threading.Lock()


class _Arguments:
    """Arguments of one launch."""

    __slots__ = ("words", "memory", "keep")

    def __init__(self) -> None:
        self.words: List[int] = []
        self.memory: List[Range] = []
        #: Objects whose memory the launch may access.
        self.keep: List[Any] = []

    def find(self, address: int) -> Optional[Range]:
        """Returns the memory of the program around an address that is in no argument."""
        with without_torch_mode():
            return _live_memory.find(address, self.keep)


def _pack_pointer(value: Any, to: _Arguments) -> None:
    storage = getattr(value, "untyped_storage", None)
    if storage is not None:  # the usual case, a tensor of torch
        owner = storage()
        to.words.append(value.data_ptr())
        to.memory.append((owner.data_ptr(), owner.nbytes()))
    elif value is None:
        to.words.append(0)
    elif type(value) is int:
        to.words.append(value & _MASK64)
    else:
        address = getattr(value, "data_ptr", None)
        if address is None:
            raise TypeError(f"a pointer takes a tensor, an address or None; a {type(value).__name__} was given")
        to.words.append(address())
        memory = range_of(value)
        if memory is not None:
            to.memory.append(memory)


_MASK64 = (1 << 64) - 1


def _integer(bits: int) -> _Pack:
    mask = (1 << bits) - 1

    def pack(value: Any, to: _Arguments) -> None:
        number = operator.index(value)
        if not -(1 << 63) <= number <= _MASK64:
            raise OverflowError(f"{number} does not fit an i{bits}")
        to.words.append(number & mask)

    return pack


def _pack_bool(value: Any, to: _Arguments) -> None:
    to.words.append(1 if value else 0)


def _float_bits(value: Any) -> int:
    """Returns the bits of a number as a float32. As in C, a number that is too large becomes infinite."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return int.from_bytes(struct.pack("<f", math.copysign(math.inf, value)), "little")


def _pack_float(value: Any, to: _Arguments) -> None:
    to.words.append(_float_bits(float(value)))


def _pack_double(value: Any, to: _Arguments) -> None:
    to.words.append(int.from_bytes(struct.pack("<d", float(value)), "little"))


def _pack_half(value: Any, to: _Arguments) -> None:
    to.words.append(int.from_bytes(struct.pack("<e", float(value)), "little"))


def _pack_bfloat16(value: Any, to: _Arguments) -> None:
    # Triton truncates, too.
    to.words.append(_float_bits(float(value)) >> 16)


_pack_int = _integer(32)
_pack_long = _integer(64)

_PACKS: Dict[str, _Pack] = {
    "i1": _pack_bool,
    "u1": _pack_bool,
    **{f"{sign}{bits}": _integer(bits) for sign in "iu" for bits in (8, 16, 32, 64)},
    "fp16": _pack_half,
    "bf16": _pack_bfloat16,
    "fp32": _pack_float,
    "f32": _pack_float,
    "fp64": _pack_double,
}


def _pack_of(kernel: str, kind: Any) -> Optional[_Pack]:
    """Returns the function that packs an argument of a type in Triton's notation, or `None` for a constant."""
    if isinstance(kind, (tuple, list)):
        parts = [(at, pack) for at, pack in enumerate(_pack_of(kernel, part) for part in kind) if pack is not None]

        def pack_tuple(value: Any, to: _Arguments) -> None:
            for at, pack in parts:
                pack(value[at], to)

        return pack_tuple if parts else None
    if kind == "constexpr":
        return None
    if kind.startswith("*"):
        return _pack_pointer
    if kind.startswith("tensordesc"):
        return _pack_descriptor
    if kind in _PACKS:
        return _PACKS[kind]
    raise Error(f"@{kernel} has an argument of type {kind}, which is not supported")


def _pack_descriptor(value: Any, to: _Arguments) -> None:
    """Packs a tensor descriptor in parts, as Triton passes it if the GPU has no descriptors in memory."""
    _pack_pointer(value.base, to)
    for number in (*value.shape, *value.strides):
        _pack_long(number, to)
    # Older versions of Triton have fewer parts.
    if hasattr(value, "padding"):
        _pack_bool(value.padding == "nan", to)
    if hasattr(value, "round_f32_to_tf32"):
        _pack_bool(value.round_f32_to_tf32, to)
    for number in value.shape:
        _pack_int(number, to)
    for number in value.strides:
        _pack_long(number, to)


class Launcher:
    """Launcher of one compiled kernel, in the place of Triton's launcher."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.name: str = metadata.name
        function = getattr(src, "fn", None)
        self.label: str = getattr(function, "__name__", self.name)
        self.arg_names: Sequence[str] = getattr(function, "arg_names", ())
        if getattr(metadata, "tensordesc_meta", None):
            raise _unsupported(self.label, "tensor descriptors of the GPU (tensormap) as arguments", "set sm=80 (HALFBYTE_SM=80)")
        if getattr(metadata, "num_ctas", 1) > 1:
            raise _unsupported(self.label, f"clusters of blocks (num_ctas={metadata.num_ctas})", "set num_ctas=1")
        packs = [_pack_of(self.label, kind) for kind in src.signature.values()]
        #: Argument numbers with the functions that pack them.
        self.packs = [(at, pack) for at, pack in enumerate(packs) if pack is not None]
        self.block = (32 * metadata.num_warps, 1, 1)
        self.shared: int = metadata.shared
        self.cooperative = bool(getattr(metadata, "launch_cooperative_grid", False))
        self.global_scratch = _scratch_of(metadata, "global")
        self.profile_scratch = _scratch_of(metadata, "profile")

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: LoadedKernel,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Optional[Callable[[Any], None]],
        exit_hook: Optional[Callable[[Any], None]],
        *args: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid_x > 0 and grid_y > 0 and grid_z > 0:
            to = _Arguments()
            with without_torch_mode():
                for at, pack in self.packs:
                    pack(args[at], to)
            self._add_scratch(function, grid_x * grid_y * grid_z, stream, to)
            function.launch(self, (grid_x, grid_y, grid_z), to, args)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _add_scratch(self, function: LoadedKernel, blocks: int, stream: Any, to: _Arguments) -> None:
        """Appends the pointers to scratch memory, which are the last parameters of each kernel."""
        missing = function.parameters - len(to.words)
        if missing > 0:
            scratch = [(self.global_scratch, "_allocator"), (self.profile_scratch, "_profile_allocator")]
            for (size, alignment), allocator in scratch[:missing]:
                if size:
                    _pack_pointer(_allocated(allocator, size * blocks, alignment, stream, to), to)
                else:
                    to.words.append(0)


def _scratch_of(metadata: Any, kind: str) -> Tuple[int, int]:
    """Returns the number of bytes of scratch memory of a block, and its alignment."""
    return getattr(metadata, f"{kind}_scratch_size", 0) or 0, getattr(metadata, f"{kind}_scratch_align", 1) or 1


def _allocated(name: str, size: int, alignment: int, stream: Any, to: _Arguments) -> Any:
    """Allocates scratch memory by the allocator of the program. If the program has no allocator, halfbyte allocates the memory."""
    allocator: Any = getattr(_allocation, name, None)
    allocator = allocator.get() if hasattr(allocator, "get") else allocator
    if allocator is None or type(allocator).__name__ == "NullAllocator":
        buffer: Any = HostBuffer(size, alignment)
    else:
        buffer = allocator(size, alignment, stream)
    to.keep.append(buffer)
    return buffer


def _unsupported(kernel: str, what: str, remedy: str) -> Error:
    error = Error(f"error: @{kernel} uses {what}, which halfbyte does not support\nhelp: {remedy}")
    _findings.launched(kernel)
    _findings.failed(kernel, error)
    return error


class LoadedKernel:
    """Kernel in the engine, with the settings of the driver that loaded it."""

    def __init__(self, text: str, name: str, settings: Callable[[], Settings]) -> None:
        self.kernel = HostKernel(text, name, f"{name}.ptx")
        self.parameters = len(self.kernel.params)
        self.settings = settings
        _findings.approximates(name, self.kernel.approximations)

    def launch(self, launcher: Launcher, grid: Tuple[int, int, int], to: _Arguments, args: Sequence[Any]) -> None:
        settings = self.settings()
        _findings.launched(launcher.label)
        try:
            if settings.races:
                self._collect_warnings(launcher, grid, to, settings)
            else:
                self._run(launcher, grid, to, settings)
        except Error as error:
            if isinstance(error, Trap):
                _explain(error, launcher, args)
            _findings.failed(launcher.label, error)
            if not settings.keep_going:
                raise
            print(f"halfbyte: {error}", file=sys.stderr)

    def _run(self, launcher: Launcher, grid: Tuple[int, int, int], to: _Arguments, settings: Settings) -> None:
        self.kernel.launch(
            to.words,
            grid,
            launcher.block,
            shared=launcher.shared,
            memory=to.memory,
            find=to.find,
            races=settings.races,
            cooperative=launcher.cooperative,
            budget=settings.budget,
            threads=settings.threads,
        )

    def _collect_warnings(self, launcher: Launcher, grid: Tuple[int, int, int], to: _Arguments, settings: Settings) -> None:
        """Runs the kernel, records its warnings about races, and passes them on."""
        with _collecting, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self._run(launcher, grid, to, settings)
            finally:
                found = list(caught)
        for warning in found:
            if isinstance(warning.message, RaceWarning):
                _findings.warned(launcher.label, warning.message)
            warnings.warn(warning.message, stacklevel=2)


def load_kernel(text: str, name: str, settings: Callable[[], Settings]) -> LoadedKernel:
    """Loads a kernel of a PTX text. An unsupported instruction is recorded and raised."""
    try:
        return LoadedKernel(text, name, settings)
    except Error as error:
        if settings().sm >= 90:
            help_text = "Triton uses other instructions for older GPUs: set sm=80 (HALFBYTE_SM=80)"
            error.args = (f"{error}\nhelp: {help_text}", *error.args[1:])
        _findings.launched(name)
        _findings.failed(name, error)
        raise


def _explain(error: Trap, launcher: Launcher, args: Sequence[Any]) -> None:
    """Adds the lines of the Python function, and the argument at the address of the access, to the text of an error."""
    notes = []
    for file, line in dict.fromkeys(source for source in (error.source, *error.inlined_at, *error.sources) if source is not None):
        code = linecache.getline(file, line).strip()
        if code:
            notes.append(f"{os.path.basename(file)}:{line}: {code}")
    found = re.search(r"global address (0x[0-9a-f]+)", str(error))
    if found is not None:
        notes += _note_of_address(error, int(found[1], 16), launcher, _named_memory(launcher, args))
    error.args = ("\n   = note: ".join([str(error), *notes]), *error.args[1:])


def _note_of_address(error: Trap, address: int, launcher: Launcher, memory: Sequence[Tuple[str, Range]]) -> List[str]:
    for name, (start, size) in memory:
        if start <= address < start + size:
            return [f"the address is byte {address - start} of `{name}` of @{launcher.label}, which has {size} bytes"]
    if not memory or not error.kind.startswith("out-of-bounds"):
        return []
    name, (start, size) = min(memory, key=lambda item: _distance(address, item[1]))
    distance = _distance(address, (start, size))
    if distance >= 1 << 30:
        return []
    where = f"{distance} bytes before it" if address < start else f"{distance} bytes after its end"
    return [f"the nearest argument is `{name}` of @{launcher.label}, which has {size} bytes: the address is {where}"]


def _distance(address: int, memory: Range) -> int:
    start, size = memory
    return start - address if address < start else address - (start + size)


def _named_memory(launcher: Launcher, args: Sequence[Any]) -> List[Tuple[str, Range]]:
    """Returns the names of arguments with their memory."""
    found: List[Tuple[str, Range]] = []

    def visit(name: str, value: Any) -> None:
        if isinstance(value, (tuple, list)):
            for at, part in enumerate(value):
                visit(f"{name}[{at}]", part)
            return
        base = getattr(value, "base", None) if hasattr(value, "block_shape") else value
        if hasattr(base, "data_ptr"):
            memory = range_of(base)
            if memory is not None:
                found.append((name, memory))

    with without_torch_mode():
        for name, value in zip(launcher.arg_names, args):
            visit(name, value)
    return found


def without_torch_mode() -> Any:
    """Returns a context in which methods of tensors do not pass through the mode of `_torch`, which would make the methods slow."""
    torch = sys.modules.get("torch")
    if torch is None:
        return _NO_CONTEXT
    disable = getattr(getattr(torch, "_C", None), "DisableTorchFunction", nullcontext)
    return disable()


_NO_CONTEXT = nullcontext()
