"""Triton's driver and compiler backend for halfbyte.

This module imports Triton, so that it is imported only if Triton is used. `activate` and `deactivate` put the driver in the place of
Triton's own. The settings of launches belong to the installation, or to a thread that runs `hb.triton`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Hashable, Iterator, List, Optional, Sequence, Tuple

from triton.backends import Backend, backends  # type: ignore[import-untyped, import-not-found, unused-ignore]
from triton.backends.compiler import GPUTarget  # type: ignore[import-untyped, import-not-found, unused-ignore]
from triton.backends.driver import DriverBase  # type: ignore[import-untyped, import-not-found, unused-ignore]
from triton.backends.nvidia.compiler import CUDABackend  # type: ignore[import-untyped, import-not-found, unused-ignore]
from triton.compiler import CompiledKernel  # type: ignore[import-untyped, import-not-found, unused-ignore]
from triton.runtime import driver as _drivers  # type: ignore[import-untyped, import-not-found, unused-ignore]

from . import _triton_autotune
from ._settings import Settings, from_environment
from ._torch_cuda import Event, Stream
from ._triton_launcher import Launcher, LoadedKernel, load_kernel


class _Device(int):
    """Number of the device. Triton uses the number as a key of compiled kernels, so that it differs between settings and drivers."""

    key: Hashable

    def __new__(cls, key: Hashable) -> _Device:
        device = super().__new__(cls, 0)
        device.key = key
        return device

    def __hash__(self) -> int:
        return hash((_Device, self.key))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, _Device) else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> Tuple[Any, ...]:
        return int, (0,)


class Session:
    """Settings of the launches of a thread or of the installation."""

    def __init__(self, settings: Settings, key: Hashable = None) -> None:
        self.settings = settings
        self.device = _Device((settings.sm, key))
        self.target = GPUTarget("cuda", settings.sm, 32)


class _Thread(threading.local):
    """Session of a thread that runs `hb.triton`, if any."""

    session: Optional[Session] = None


_thread = _Thread()
_installed: Optional[Session] = None
_default = Session(Settings())


def current_session() -> Session:
    """Returns the session of this thread, or of the installation."""
    return _thread.session or _installed or _default


def current_settings() -> Settings:
    """Returns the settings of this thread's launches."""
    return current_session().settings


def default_settings() -> Settings:
    """Returns the settings of the installation, or those of the environment if there is none."""
    return _installed.settings if _installed is not None else from_environment()


def install_session(session: Optional[Session]) -> Optional[Session]:
    """Sets the session of the threads without their own, and returns the previous one."""
    global _installed
    before, _installed = _installed, session
    if before is None and session is not None:
        activate()
    elif before is not None and session is None:
        deactivate()
    return before


@contextlib.contextmanager
def thread_session(session: Session) -> Iterator[None]:
    """Activates the driver, with a session for this thread."""
    before, _thread.session = _thread.session, session
    activate()
    try:
        yield
    finally:
        deactivate()
        _thread.session = before


class HalfbyteBackend(CUDABackend):  # type: ignore[misc, unused-ignore]
    """Compiler backend that ends at PTX: the file for machine code contains the PTX."""

    def parse_options(self, opts: Dict[str, Any]) -> Any:
        """Returns the options of a compilation.

        The default of `enable_fp_fusion` depends on Triton's version. halfbyte fuses multiplications and additions unless the program or
        `TRITON_DEFAULT_FP_FUSION` says otherwise, so that the results do not depend on the version.
        """
        if opts.get("enable_fp_fusion") is None and "TRITON_DEFAULT_FP_FUSION" not in os.environ:
            opts = {**opts, "enable_fp_fusion": True}
        return super().parse_options(opts)

    @staticmethod
    def make_cubin(src: Any, *_: Any, **__: Any) -> bytes:
        return with_lines_of_inline_assembly(src if isinstance(src, str) else src.decode()).encode()

    @functools.lru_cache()
    def hash(self) -> str:
        """Returns the backend's part of the keys of Triton's cache on disk. The keys differ from those of machine code for a GPU.

        The number at the end changes with the format of the files.
        """
        return f"{super().hash()}-halfbyte-1"


def with_lines_of_inline_assembly(ptx: str) -> str:
    """Removes the `.loc` directives after the first in each block of inline assembly.

    Triton writes a load as several lines of assembly, and LLVM counts each of them as a further line of the Python file.
    """
    lines: List[str] = []
    #: Number of `.loc` directives in the current block, or `None` outside of blocks.
    count: Optional[int] = None
    for line in ptx.split("\n"):
        if "// begin inline asm" in line:
            count = 0
        elif "// end inline asm" in line:
            count = None
        elif count is not None and line.lstrip().startswith(".loc"):
            count += 1
            if count > 1:
                continue
        lines.append(line)
    return "\n".join(lines)


#: Number of values that Triton takes from `load_binary`. Versions before 3.4 do not take the number of threads.
_LOADED = 5 if "n_max_threads" in CompiledKernel._init_handles.__code__.co_names else 4


class _Utils:
    """Functions on the device and on modules."""

    def __init__(self) -> None:
        self._loaded: weakref.WeakValueDictionary[Tuple[str, bytes], LoadedKernel] = weakref.WeakValueDictionary()

    def load_binary(self, name: str, kernel: Any, shared: int, device: int) -> Tuple[Any, ...]:
        """Loads PTX, and returns the module, the function, and the numbers of registers, spilled registers and threads."""
        text = kernel if isinstance(kernel, bytes) else kernel.encode()
        loaded = self._loaded.get((name, text))
        if loaded is None:
            loaded = load_kernel(text.decode(), name, current_settings)
            self._loaded[name, text] = loaded
        return (loaded, loaded, loaded.kernel.registers, 0, 1024)[:_LOADED]

    def unload_module(self, module: Any) -> None:
        pass

    def get_device_properties(self, device: int = 0) -> Dict[str, int]:
        settings = current_settings()
        return {
            "max_shared_mem": settings.limits.shared_of_block,
            "max_num_regs": 65536,
            "multiprocessor_count": settings.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 256,
        }

    def get_current_device(self) -> int:
        return current_session().device

    def set_current_device(self, device: int) -> None:
        pass

    def get_device_capability(self, device: int = 0) -> Tuple[int, int]:
        return divmod(current_settings().sm, 10)

    def get_default_stream(self, device: int = 0) -> int:
        return 0

    def is_stream_capturing(self, stream: Any = None) -> bool:
        return False

    def set_printf_fifo_size(self, size: int) -> None:
        pass

    def cuOccupancyMaxActiveClusters(self, *_: Any) -> int:
        return 1


class _Interface:
    """Interface of the device in a program without torch, as `torch.cuda` in a program with torch."""

    Event = Event
    Stream = Stream

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def get_device_capability(device: Any = None) -> Tuple[int, int]:
        return divmod(current_settings().sm, 10)

    @staticmethod
    def device(device: Any = None) -> Any:
        return contextlib.nullcontext()

    stream = device

    @staticmethod
    def default_stream(device: Any = None) -> int:
        return 0

    current_stream = default_stream


class HalfbyteDriver(DriverBase):  # type: ignore[misc, unused-ignore]
    """Driver whose device is the CPU."""

    launcher_cls = Launcher

    def __init__(self) -> None:
        self.utils = _Utils()
        self.get_device_capability = self.utils.get_device_capability
        self.get_current_device = self.utils.get_current_device
        self.set_current_device = self.utils.set_current_device
        self.get_current_stream = self.utils.get_default_stream

    @staticmethod
    def is_active() -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return str(ty_to_cpp(ty))

    def get_current_target(self) -> Any:
        return current_session().target

    def get_active_torch_device(self) -> Any:
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        """Returns the functions that Triton's benchmarks call. `torch.cuda` would need a GPU."""
        return _Interface

    def get_benchmarker(self) -> Callable[..., Any]:
        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        return None

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def benchmark(kernel_call: Callable[[], Any], *, quantiles: Optional[Sequence[float]] = None, **_: Any) -> Any:
    """Measures one call on the CPU, in milliseconds."""
    start = time.perf_counter()
    kernel_call()
    milliseconds = (time.perf_counter() - start) * 1e3
    return milliseconds if quantiles is None else [milliseconds] * len(quantiles)


class _Active:
    """Driver while it is active, with what it replaced."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.driver: Optional[HalfbyteDriver] = None
        self.restore: List[Callable[[], None]] = []


_active = _Active()


def activate() -> None:
    """Puts the driver and the backend in the place of Triton's, until `deactivate` has been called as often as `activate`."""
    with _active.lock:
        _active.count += 1
        if _active.count > 1:
            return
        _active.driver = _active.driver or HalfbyteDriver()
        before = {name: _drivers.__dict__.get(name) for name in ("_active", "_default", "active", "default") if name in _drivers.__dict__}
        _active.restore.append(lambda: _drivers.__dict__.update(before))
        for name in before:
            _drivers.__dict__[name] = _active.driver
        nvidia = backends.get("nvidia")
        backends["nvidia"] = Backend(compiler=HalfbyteBackend, driver=HalfbyteDriver)
        _active.restore.append(lambda: backends.__setitem__("nvidia", nvidia) if nvidia else backends.pop("nvidia"))
        _active.restore.append(_triton_autotune.replace(lambda: current_settings().autotune))
        _active.restore.append(_forget_modules())


def _forget_modules() -> Callable[[], None]:
    """Collects the kernels that Triton loads from now on. Returns a function that removes the modules of these kernels.

    When Triton deletes a kernel, the driver that is active at that time unloads the module of the kernel, if there is one.
    """
    kernels: weakref.WeakSet[Any] = weakref.WeakSet()
    original = CompiledKernel._init_handles

    def init_handles(kernel: Any) -> None:
        if kernel.module is None:
            original(kernel)
            kernels.add(kernel)

    def forget() -> None:
        CompiledKernel._init_handles = original
        for kernel in list(kernels):
            kernel.module = None

    CompiledKernel._init_handles = init_handles
    return forget


def deactivate() -> None:
    """Restores Triton's driver and backend after the last `deactivate`."""
    with _active.lock:
        _active.count -= 1
        if _active.count == 0:
            while _active.restore:
                _active.restore.pop()()
