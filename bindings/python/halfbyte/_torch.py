"""Replacement of parts of torch while the Triton plug-in is installed: `device="cuda"` means the CPU, and `torch.cuda` has a device.

This module does not import torch. If the program imports torch later, an import hook replaces the parts after the import.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _torch_cuda
from ._settings import Settings

_MISSING = object()


class _State:
    """State of the replacement, with functions that undo it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.settings: Optional[Callable[[], Settings]] = None
        self.hook: Optional[_ImportHook] = None
        self.undo: List[Callable[[], None]] = []

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Sets an attribute until `deactivate`."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self.undo.append(lambda: delattr(owner, name) if before is _MISSING else setattr(owner, name, before))


_state = _State()


def activate(settings: Callable[[], Settings]) -> None:
    """Activates the replacement. `settings` returns the current settings of the device."""
    with _state.lock:
        if _state.settings is not None:
            return
        _state.settings = settings
        if "torch" in sys.modules:
            try:
                _replace_all(sys.modules["torch"])
            except BaseException:
                deactivate()
                raise
        else:
            _state.hook = _ImportHook()
            sys.meta_path.insert(0, _state.hook)


def deactivate() -> None:
    """Restores torch."""
    with _state.lock:
        _state.settings = None
        if _state.hook is not None and _state.hook in sys.meta_path:
            sys.meta_path.remove(_state.hook)
        _state.hook = None
        while _state.undo:
            _state.undo.pop()()


class _ImportHook(importlib.abc.MetaPathFinder):
    """Finder that completes the installation when torch has been imported."""

    def __init__(self) -> None:
        self.is_finding = False

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "torch" or self.is_finding:
            return None
        self.is_finding = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_finding = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec


class _Loader(importlib.abc.Loader):
    """Loader of torch that completes the installation after the import."""

    def __init__(self, loader: Any, hook: _ImportHook) -> None:
        self._loader = loader
        self._hook = hook

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        with _state.lock:
            if _state.hook is self._hook:
                sys.meta_path.remove(self._hook)
                _state.hook = None
                _replace_all(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _replace_all(torch: Any) -> None:
    """Replaces parts of torch, and enters the mode for this thread and for threads that start later."""
    settings = _state.settings
    if settings is None or not hasattr(torch, "Tensor"):
        return
    answers = {**_torch_cuda.cuda_answers(settings), **_torch_cuda.seed_answers(torch)}
    for name, value in answers.items():
        _state.replace(torch.cuda, name, value)
    if hasattr(torch, "accelerator"):
        for name, value in _torch_cuda.accelerator_answers(torch).items():
            if hasattr(torch.accelerator, name):
                _state.replace(torch.accelerator, name, value)
    # Programs read this attribute of a tensor before they launch a Triton kernel on the tensor.
    _state.replace(torch.Tensor, "is_cuda", property(lambda tensor: True))
    # Other packages would take the address in this attribute for an address of a GPU.
    _state.replace(torch.Tensor, "__cuda_array_interface__", property(_refuse_array_interface))
    _replace_classes(torch)
    switch = _Switch()
    mode_class = _mode_class(torch, switch)
    mode = mode_class()
    mode.__enter__()
    _state.undo.append(lambda: _leave(torch, mode))
    _state.undo.append(switch.turn_off)
    _replace_threads(mode_class)


def _refuse_array_interface(tensor: Any) -> Any:
    raise AttributeError("the tensor is on the CPU")


def _replace_classes(torch: Any) -> None:
    """Replaces constructors and functions that take a device, but do not pass through a mode."""
    context = importlib.import_module("torch.utils._device").DeviceContext
    enter_device = context.__init__
    _state.replace(context, "__init__", lambda self, device: enter_device(self, _on_cpu(torch, device)))

    autocast = importlib.import_module("torch.amp.autocast_mode").autocast
    autocast_init = autocast.__init__

    @functools.wraps(autocast_init)
    def init_autocast(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", torch.float16 if dtype is None else dtype
        autocast_init(self, device_type, dtype, *args, **kwargs)

    _state.replace(autocast, "__init__", init_autocast)
    load = torch.load

    @functools.wraps(load)
    def load_on_cpu(file: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        return load(file, _on_cpu(torch, map_location), *args, **kwargs)

    _state.replace(torch, "load", load_on_cpu)
    _state.replace(torch, "Generator", _generator_class(torch))


def _generator_class(torch: Any) -> Any:
    """Returns the replacement of `torch.Generator`, which creates a generator of the CPU in place of a generator for a GPU."""
    original = torch.Generator

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, original)

        def __call__(cls, device: Any = "cpu") -> Any:
            return original(device=_on_cpu(torch, device))

    return Kind("Generator", (), {"__doc__": original.__doc__})


class _Switch:
    """Switch of the modes of all threads. A thread cannot remove the mode of another thread."""

    def __init__(self) -> None:
        self.is_on = True

    def turn_off(self) -> None:
        self.is_on = False


def _replace_threads(mode_class: Any) -> None:
    """Makes threads that start later enter the mode, because torch keeps modes per thread."""
    run = threading.Thread.run

    @functools.wraps(run)
    def run_in_mode(thread: threading.Thread) -> None:
        with mode_class():
            run(thread)

    _state.replace(threading.Thread, "run", run_in_mode)


def _leave(torch: Any, mode: Any) -> None:
    """Removes a mode from the stack of this thread. Modes that the program entered later stay."""
    from torch.overrides import _pop_mode, _push_mode  # type: ignore[import-not-found, unused-ignore]

    above = []
    while torch._C._len_torch_function_stack() > 0:
        top = _pop_mode()
        if top is mode:
            break
        above.append(top)
    for other in reversed(above):
        _push_mode(other)


def _is_cuda(torch: Any, device: Any) -> bool:
    if isinstance(device, torch.device):
        return bool(device.type == "cuda")
    if isinstance(device, str):
        return device == "cuda" or device.startswith("cuda:")
    return isinstance(device, int) and not isinstance(device, bool)


def _on_cpu(torch: Any, device: Any) -> Any:
    """Returns the CPU in the place of a GPU, and other values as they are."""
    return torch.device("cpu") if _is_cuda(torch, device) else device


class _Moved:
    """Tensors that the program has put on the GPU, by their identity."""

    def __init__(self) -> None:
        self._known: Dict[int, Any] = {}

    def add(self, tensor: Any) -> None:
        number = id(tensor)
        self._known[number] = weakref.ref(tensor, lambda _: self._known.pop(number, None))

    def has(self, tensor: Any) -> bool:
        reference = self._known.get(id(tensor))
        return reference is not None and reference() is tensor


def _mode_class(torch: Any, switch: _Switch) -> Any:
    """Returns the class of a mode in which functions with a GPU as device use the CPU while the switch is on."""
    from torch.overrides import TorchFunctionMode

    moved = _Moved()
    base = torch.Tensor
    device_type = torch.device

    def move(func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Handles `Tensor.to`. The result is a copy, as between a CPU and a GPU, so that a kernel on the copy keeps the original."""
        target = args[1] if len(args) > 1 else kwargs.get("device")
        to_cuda = _is_cuda(torch, target)
        if not to_cuda and target != "cpu":
            return func(*args, **kwargs)
        if len(args) > 1:
            args = (args[0], "cpu", *args[2:])
        else:
            kwargs = {**kwargs, "device": "cpu"}
        if len(args) < 5 and not (to_cuda and moved.has(args[0])):
            kwargs = {**kwargs, "copy": True}
        result = func(*args, **kwargs)
        if to_cuda:
            moved.add(result)
        return result

    def cuda(func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if moved.has(args[0]):
            return args[0]
        result = args[0].to("cpu", copy=True)
        moved.add(result)
        return result

    def cpu(func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        return args[0].to("cpu", copy=True)

    def same(func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        return args[0]

    handlers = {base.to: move, base.cuda: cuda, base.cpu: cpu, base.pin_memory: same, base.record_stream: lambda *_: None}

    class CudaOnCpu(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if kwargs is None:
                kwargs = {}
            if not switch.is_on:
                return func(*args, **kwargs)
            handler = handlers.get(func)
            if handler is not None:
                return handler(func, args, kwargs)
            is_moved = False
            if kwargs:
                device = kwargs.get("device")
                if device is not None and _is_cuda(torch, device):
                    is_moved = True
                    kwargs = {**kwargs, "device": "cpu"}
                if kwargs.get("pin_memory"):
                    kwargs = {**kwargs, "pin_memory": False}
            for arg in args:
                if type(arg) is device_type and arg.type == "cuda":
                    is_moved = True
                    args = tuple(_on_cpu(torch, arg) if type(arg) is device_type else arg for arg in args)
                    break
            result = func(*args, **kwargs)
            if is_moved and isinstance(result, base):
                moved.add(result)
            return result

    return CudaOnCpu
