"""Tests of the answers for torch: on a small package in the place of torch, and on torch if it is installed."""

import importlib
import sys
import threading

import pytest

from halfbyte import _torch, _torch_cuda
from halfbyte._settings import Settings

#: Package with the parts of torch that halfbyte replaces or calls.
FAKE = {
    "__init__.py": """
import functools
from types import SimpleNamespace
stack = []
_C = SimpleNamespace(_len_torch_function_stack=lambda: len(stack))
def dispatched(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if not stack:
            return function(*args, **kwargs)
        mode = stack.pop()
        try:
            return mode.__torch_function__(call, (), args, kwargs)
        finally:
            stack.append(mode)
    return call
class device:
    def __init__(self, name):
        self.type = name.partition(":")[0]
class TensorBase:
    is_cuda = property(lambda self: False)
class Tensor(TensorBase):
    def __init__(self, values):
        self.values = values
    @dispatched
    def to(self, device=None, dtype=None, non_blocking=False, copy=False):
        if device != float16:
            on_cpu(device)
        return Tensor(list(self.values)) if copy else self
    @dispatched
    def cuda(self):
        raise RuntimeError("no GPU")
    @dispatched
    def cpu(self):
        return self
    @dispatched
    def pin_memory(self):
        raise RuntimeError("no GPU")
    @dispatched
    def record_stream(self, stream):
        raise RuntimeError("no GPU")
def on_cpu(name):
    if (name.type if isinstance(name, device) else name or "cpu") != "cpu":
        raise RuntimeError(f"no device {name}")
@dispatched
def zeros(size, device=None, pin_memory=False):
    assert not pin_memory
    on_cpu(device)
    return Tensor([0] * size)
@dispatched
def zeros_on(size, device):
    on_cpu(device)
    return Tensor([0] * size)
class Generator:
    def __init__(self, device="cpu"):
        on_cpu(device)
        self.seed = 0
    def manual_seed(self, seed):
        self.seed = seed
        return self
default_generator = Generator()
def load(file, map_location=None, **options):
    on_cpu(map_location)
    return file
def missing(*args, **kwargs):
    raise RuntimeError("no GPU")
cuda = SimpleNamespace(is_available=lambda: False, synchronize=missing, get_device_properties=missing)
float16 = "float16"
""",
    "amp/__init__.py": "",
    "amp/autocast_mode.py": """
class autocast:
    def __init__(self, device_type, dtype=None, enabled=True):
        self.chosen = device_type, dtype, enabled
""",
    "utils/__init__.py": "",
    "utils/_device.py": """
from torch import on_cpu
class DeviceContext:
    def __init__(self, device):
        on_cpu(device)
""",
    "overrides.py": """
from torch import stack
_push_mode, _pop_mode = stack.append, stack.pop
class TorchFunctionMode:
    def __enter__(self):
        _push_mode(self)
        return self
    def __exit__(self, *_):
        _pop_mode()
""",
}


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts the small package in the place of torch, and returns a function that imports it."""
    folder = tmp_path / "torch"
    for name, text in FAKE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "torch" or name.startswith("torch.")}
    yield lambda: importlib.import_module("torch")
    _torch.deactivate()
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]
    sys.modules.update(before)


def settings():
    return Settings(sm=90, multiprocessors=16)


@pytest.fixture(params=["before", "after"])
def torch(fake, request):
    """Returns the small package, imported before or after the activation."""
    if request.param == "before":
        fake()
    _torch.activate(settings)
    return fake()


def test_tensors_of_a_gpu_are_on_the_cpu(torch):
    assert torch.zeros(2, device="cuda", pin_memory=True).values == [0, 0]
    assert torch.zeros(2, device="cuda:1").values == torch.zeros(2, device=0).values == [0, 0]
    assert torch.zeros_on(2, torch.device("cuda:0")).values == [0, 0]
    with pytest.raises(RuntimeError, match="no device xpu"):
        torch.zeros(1, device="xpu")
    assert torch.zeros(1).is_cuda


def test_moves_between_devices_are_copies(torch):
    x = torch.zeros(2)
    for move in (lambda x: x.cuda(), lambda x: x.to("cuda"), lambda x: x.to(torch.device("cuda"), "float16"), lambda x: x.to(device="cuda:0")):
        y = move(x)
        assert y is not x and y.values is not x.values
        assert move(y) is y and y.cpu() is not y and y.to("cpu") is not y
    assert x.to("float16") is x and x.to(torch.device("cpu")) is x
    assert x.pin_memory() is x and x.record_stream(None) is None
    created = torch.zeros(1, device="cuda")
    assert created.cuda() is created


def test_the_device_answers(torch):
    cuda = torch.cuda
    assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
    properties = cuda.get_device_properties(0)
    assert (properties.major, properties.minor, properties.multi_processor_count, properties.warp_size) == (9, 0, 16, 32)
    assert properties.shared_memory_per_block_optin == 232448 and properties.name == cuda.get_device_name() == "NVIDIA halfbyte sm_90"
    assert cuda.get_device_capability("cuda") == (9, 0) and cuda.mem_get_info() == (4 << 30, 4 << 30)
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with cuda.device(0), cuda.stream(cuda.Stream()), cuda.device_of(torch.zeros(1)):
        start.record()
        cuda.current_stream().record_event(end)
    cuda.synchronize()
    assert start.elapsed_time(end) > 0 and end.query()
    cuda.manual_seed_all(7)
    assert torch.default_generator.seed == 7
    assert isinstance(torch.Generator(device="cuda").manual_seed(3), torch.Generator)
    assert torch.amp.autocast_mode.autocast("cuda").chosen == ("cpu", "float16", True)
    assert torch.amp.autocast_mode.autocast("cuda", "bfloat16", False).chosen == ("cpu", "bfloat16", False)
    assert torch.load("file", map_location="cuda") == "file"
    torch.utils._device.DeviceContext("cuda")


def test_names_have_different_functions():
    """The compiler of torch refuses one function with two names."""
    answers = [*_torch_cuda.cuda_answers(settings).values(), *_torch_cuda.accelerator_answers(None).values()]
    assert len({id(answer) for answer in answers}) == len(answers)


def test_threads_that_start_later_answer_too(torch):
    found = []
    torch.stack.clear()  # the modes of torch belong to a thread
    thread = threading.Thread(target=lambda: found.append(torch.zeros(1, device="cuda").values))
    thread.start()
    thread.join()
    assert found == [[0]] and torch.stack == []


def test_deactivation_restores_torch(fake):
    torch = fake()
    for name in ("torch.overrides", "torch.amp.autocast_mode", "torch.utils._device"):
        importlib.import_module(name)
    owners = [torch, torch.cuda, torch.Tensor, torch.amp.autocast_mode.autocast, torch.utils._device.DeviceContext, threading.Thread]
    before = [dict(vars(owner)) for owner in owners]
    finders = list(sys.meta_path)
    _torch.activate(settings)
    _torch.activate(settings)
    other = object()
    torch.stack.append(other)
    assert [dict(vars(owner)) for owner in owners] != before
    _torch.deactivate()
    assert torch.stack == [other] and sys.meta_path == finders
    assert [dict(vars(owner)) for owner in owners] == before
    torch.stack.clear()
    assert not torch.zeros(1).is_cuda
    _torch.deactivate()


def test_deactivation_before_the_import(fake):
    finders = list(sys.meta_path)
    _torch.activate(settings)
    _torch.deactivate()
    assert sys.meta_path == finders
    assert not fake().cuda.is_available()


@pytest.fixture
def real():
    torch = pytest.importorskip("torch")
    _torch.activate(settings)
    yield torch
    _torch.deactivate()


def test_tensors_of_real_torch(real):
    torch = real
    x = torch.arange(4, device="cuda", dtype=torch.float32)
    assert x.is_cuda and x.device.type == "cpu" and not hasattr(x, "__cuda_array_interface__")
    assert torch.equal(torch.ones(4, device=torch.device("cuda", 0)), torch.ones_like(x))
    y = torch.zeros(4)
    z = y.cuda()
    z += 1
    assert y.sum() == 0 and z.cuda() is z and z.cpu() is not z
    assert y.to("cuda", torch.float16).dtype == torch.float16 and y.to(device="cuda", dtype=torch.int32).dtype == torch.int32
    assert y.to(torch.float64).dtype == torch.float64 and y.to(x) is y
    assert torch.tensor([1, 2], device="cuda:0").tolist() == [1, 2]
    assert torch.empty(3, device="cuda", pin_memory=False).new_zeros(2, device="cuda").tolist() == [0, 0]
    linear = torch.nn.Linear(4, 2, device="cuda")
    assert linear(x).shape == (2,)
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).cuda().to("cuda")
    loss = module(torch.randn(3, 4, device="cuda", requires_grad=True)).sum()
    loss.backward()
    assert module[0].weight.grad is not None
    generator = torch.Generator(device="cuda").manual_seed(1)
    assert torch.randn(2, device="cuda", generator=generator).shape == (2,)
    with torch.device("cuda"):
        assert torch.zeros(2).shape == (2,)
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(2).shape == (2,)
    finally:
        torch.set_default_device(None)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (linear(x[None])).dtype == torch.bfloat16
    weight = torch.nn.Parameter(torch.ones(2)).to("cuda")
    weight.sum().backward()


def test_the_device_of_real_torch(real):
    torch = real
    assert torch.cuda.is_available() and torch.cuda.get_device_properties("cuda").multi_processor_count == 16
    torch.cuda.manual_seed(3)
    first = torch.randn(4, device="cuda")
    torch.manual_seed(3)
    assert torch.equal(first, torch.randn(4, device="cuda"))
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda.synchronize()
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.zeros(1, device="cuda")))
    thread.start()
    thread.join()
    assert len(found) == 1
    _torch.deactivate()
    assert not torch.zeros(1).is_cuda and "is_cuda" not in vars(torch.Tensor)
