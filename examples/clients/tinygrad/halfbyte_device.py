"""tinygrad device that runs PTX kernels on libhalfbyte. tinygrad generates the same PTX as for a GPU, and buffers are memory of this process.

The import registers the device as HALFBYTE. The library is HALFBYTE_LIBRARY, or libhalfbyte in the system's search path.
"""

import bisect
import ctypes
import ctypes.util
import os
import sys
import threading
import types
from dataclasses import replace

from tinygrad.device import Compiled, LRUAllocator, Program
from tinygrad.helpers import mv_address
from tinygrad.renderer.ptx import PTXRenderer

# The version of the C interface that this file supports (HALFBYTE_ABI_VERSION in halfbyte.h).
ABI_VERSION = 1
# The GPU target for which tinygrad generates PTX.
ARCH = "sm_80"

BOUNDS = ctypes.CFUNCTYPE(
    ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)
)


def load_library():
    path = os.environ.get("HALFBYTE_LIBRARY") or ctypes.util.find_library("halfbyte")
    if path is None:
        raise RuntimeError("libhalfbyte is not found; HALFBYTE_LIBRARY may name it")
    library = ctypes.CDLL(path)
    if (found := library.halfbyte_abi_version()) != ABI_VERSION:
        raise RuntimeError(f"{path} has interface {found}; this is for {ABI_VERSION}")
    library.halfbyte_ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)] + [ctypes.c_int] * 7
    library.halfbyte_ptx_last_error.restype = ctypes.c_void_p
    library.halfbyte_error_display.argtypes = [ctypes.c_void_p]
    library.halfbyte_error_display.restype = ctypes.c_char_p
    library.halfbyte_ptx_set_bounds.argtypes = [BOUNDS, ctypes.c_void_p]
    return library


class Allocations:
    """Allocator whose callback returns the bounds of the allocation at an address."""

    def __init__(self):
        self.lock, self.starts, self.held = threading.Lock(), [], {}
        self.find = BOUNDS(self._find)

    def add(self, size):
        memory = (ctypes.c_uint8 * size)()
        with self.lock:
            bisect.insort(self.starts, start := ctypes.addressof(memory))
            self.held[start] = memory
        return start

    def remove(self, start):
        with self.lock:
            self.starts.remove(start)
            del self.held[start]

    def _find(self, _, address, start, size):
        with self.lock:
            place = bisect.bisect_right(self.starts, address)
            if place == 0:
                return False
            start[0] = self.starts[place - 1]
            size[0] = len(self.held[start[0]])
        return address < start[0] + size[0]


LIBRARY, ALLOCATIONS = load_library(), Allocations()
LIBRARY.halfbyte_ptx_set_bounds(ALLOCATIONS.find, None)


class HalfbyteRenderer(PTXRenderer):
    # tinygrad's CUDA compiler class inserts the PTX version and the target. It needs no NVIDIA
    # library.
    def __init__(self, target):
        super().__init__(replace(target, device="CUDA"))


class HalfbyteProgram(Program):
    def __init__(self, dev, obj):
        self.dev, self.name, self.text, self.runs = dev, obj.name, bytes(obj.lib), 0

    def __call__(self, *buffers, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False, **_):
        given = [*buffers, *(value & 0xFFFFFFFFFFFFFFFF for value in vals)]
        args = (ctypes.c_void_p * len(given))(*given)
        if LIBRARY.halfbyte_ptx_run(self.text, len(given), args, *local_size, *global_size, 0) != 0:
            raise RuntimeError(LIBRARY.halfbyte_error_display(LIBRARY.halfbyte_ptx_last_error()).decode())
        HalfbyteDevice.runs += 1
        return 0.0


class HalfbyteAllocator(LRUAllocator):
    def _alloc(self, size, options):
        return ALLOCATIONS.add(size)

    def _free(self, opaque, options):
        ALLOCATIONS.remove(opaque)

    def _copyin(self, dest, src):
        ctypes.memmove(dest, mv_address(src), len(src))

    def _copyout(self, dest, src):
        ctypes.memmove(mv_address(dest), src, len(dest))

    def _offset(self, buf, size, offset):
        return buf + offset


class HalfbyteDevice(Compiled):
    # Number of launches, for tests.
    runs = 0

    def __init__(self, device):
        super().__init__(device, HalfbyteAllocator(self), [HalfbyteRenderer], HalfbyteProgram, arch=ARCH)


# tinygrad looks for a device in the module tinygrad.runtime.ops_DEVICE.
MODULE = types.ModuleType("tinygrad.runtime.ops_halfbyte")
MODULE.HALFBYTEDevice = HalfbyteDevice
sys.modules[MODULE.__name__] = MODULE
