"""Replacements of the attributes of `torch.cuda` and `torch.accelerator`, which act as if there were a GPU.

The module `_torch` sets these attributes while the Triton plug-in is installed. This module does not import torch.
"""

from __future__ import annotations

import contextlib
import sys
import time
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Tuple

from ._settings import Settings


class Event:
    """Event of a stream. The event is always complete."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self._time = time.perf_counter()
        self.cuda_event = 0

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        # The time is never 0, because programs divide by it.
        return max((end._time - self._time) * 1e3, 1e-6)

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass


class Stream:
    """Stream that finishes each operation before the operation returns."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self._device = "cpu" if device is None else device
        self.priority = priority
        self.cuda_stream = 0
        self.stream_id = 0
        self.device_index = 0

    @property
    def device(self) -> Any:
        # `torch.compile` takes only a device of torch.
        return sys.modules["torch"].device(self._device)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Any:
        event = Event() if event is None else event
        event.record(self)
        return event

    def is_capturing(self) -> bool:
        return False

    def wait_event(self, event: Any) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass


class _Context:
    """Context that does nothing, such as `torch.cuda.device(0)`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.idx = 0
        self.prev_idx = 0

    def __enter__(self) -> _Context:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class _DeviceContext(_Context):
    """`torch.cuda.device`."""


class _DeviceOfContext(_Context):
    """`torch.cuda.device_of`."""


class _StreamContext(_Context):
    """`torch.cuda.StreamContext`."""


def _constant(value: Any) -> Callable[..., Any]:
    """Returns a new function with a constant result. torch's compiler requires that different names have different functions."""
    return lambda *_, **__: value


def cuda_answers(settings: Callable[[], Settings]) -> Dict[str, Any]:
    """Returns the replaced attributes of `torch.cuda`. `settings` returns the current settings of the device."""

    def capability(device: Any = None) -> Tuple[int, int]:
        return divmod(settings().sm, 10)

    def name(device: Any = None) -> str:
        # Packages look for the name of the vendor.
        return f"NVIDIA halfbyte sm_{settings().sm}"

    def properties(device: Any = None) -> Any:
        now = settings()
        limits = now.limits
        major, minor = capability()
        return SimpleNamespace(
            name=name(),
            major=major,
            minor=minor,
            total_memory=now.memory,
            multi_processor_count=now.multiprocessors,
            max_threads_per_multi_processor=limits.threads,
            max_threads_per_block=1024,
            regs_per_multiprocessor=65536,
            shared_memory_per_block=49152,
            shared_memory_per_block_optin=limits.shared_of_block,
            shared_memory_per_multiprocessor=limits.shared,
            L2_cache_size=limits.cache,
            warp_size=32,
            is_integrated=False,
            is_multi_gpu_board=False,
            gcnArchName="",
            pci_bus_id=1,
            pci_device_id=0,
            pci_domain_id=0,
            clock_rate=1_000_000,
            memory_clock_rate=1_000_000,
            memory_bus_width=256,
            uuid="halfbyte",
        )

    def architectures() -> List[str]:
        return [f"sm_{settings().sm}"]

    def memory(device: Any = None) -> Tuple[int, int]:
        total = settings().memory
        return total, total

    def is_bf16_supported(including_emulation: bool = True) -> bool:
        return including_emulation or settings().sm >= 80

    stream = Stream()
    return {
        "is_available": _constant(True),
        "is_initialized": _constant(True),
        "is_bf16_supported": is_bf16_supported,
        "is_tf32_supported": lambda: settings().sm >= 80,
        "is_current_stream_capturing": _constant(False),
        "_is_compiled": _constant(True),
        "init": _constant(None),
        "_lazy_init": _constant(None),
        "_lazy_call": _constant(None),
        "current_device": _constant(0),
        "device_count": _constant(1),
        "set_device": _constant(None),
        "_exchange_device": _constant(0),
        "_maybe_exchange_device": _constant(0),
        "device": _DeviceContext,
        "device_of": _DeviceOfContext,
        "can_device_access_peer": _constant(False),
        "get_device_name": name,
        "get_device_capability": capability,
        "get_device_properties": properties,
        "get_arch_list": architectures,
        "synchronize": _constant(None),
        "Event": Event,
        "Stream": Stream,
        "ExternalStream": lambda pointer, device=None, **_: Stream(device),
        "StreamContext": _StreamContext,
        "stream": lambda stream: _StreamContext(),
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "set_stream": _constant(None),
        "empty_cache": _constant(None),
        "ipc_collect": _constant(None),
        "mem_get_info": memory,
        "memory_allocated": _constant(0),
        "max_memory_allocated": _constant(0),
        "memory_reserved": _constant(0),
        "max_memory_reserved": _constant(0),
        "memory_stats": lambda device=None: {},
        "memory_summary": lambda *_, **__: "",
        "reset_peak_memory_stats": _constant(None),
        "reset_max_memory_allocated": _constant(None),
        "reset_accumulated_memory_stats": _constant(None),
        "set_per_process_memory_fraction": _constant(None),
        "utilization": _constant(0),
        "nvtx": SimpleNamespace(
            range_push=_constant(0),
            range_pop=_constant(0),
            range_start=_constant(0),
            range_end=_constant(None),
            mark=_constant(None),
            range=_Context,
        ),
    }


def accelerator_answers(torch: Any) -> Dict[str, Any]:
    """Returns the replaced attributes of `torch.accelerator`."""
    return {
        "is_available": _constant(True),
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "device_count": _constant(1),
        "current_device_index": _constant(0),
        "current_device_idx": _constant(0),
        "set_device_index": _constant(None),
        "set_device_idx": _constant(None),
        "device_index": lambda index: contextlib.nullcontext(),
        "current_stream": lambda device=None: Stream(),
        "set_stream": _constant(None),
        "synchronize": _constant(None),
        "empty_cache": _constant(None),
        "memory_allocated": _constant(0),
        "max_memory_allocated": _constant(0),
        "memory_reserved": _constant(0),
        "max_memory_reserved": _constant(0),
        "reset_peak_memory_stats": _constant(None),
    }


def seed_answers(torch: Any) -> Dict[str, Any]:
    """Returns the replaced attributes of `torch.cuda` for random numbers, which the generator of the CPU creates."""
    generator = torch.default_generator
    return {
        "manual_seed": lambda seed: generator.manual_seed(int(seed)) and None,
        "manual_seed_all": lambda seed: generator.manual_seed(int(seed)) and None,
        "seed": _constant(None),
        "seed_all": _constant(None),
        "initial_seed": lambda: torch.initial_seed(),
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]) if states else None,
    }
