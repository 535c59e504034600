"""Tests of the Triton plug-in on tensors without torch."""

import dataclasses
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import halfbyte as hb

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")

from triton.runtime.autotuner import Autotuner  # noqa: E402

import halfbyte.triton  # noqa: E402
from halfbyte import _findings, _triton_driver, _triton_launcher  # noqa: E402

# The tests install the plug-in themselves.
halfbyte.triton.uninstall()


class Storage:
    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]

    def nbytes(self):
        return self.array.nbytes


class Tensor:
    """Tensor with the methods that Triton and halfbyte call."""

    def __init__(self, array, base=None):
        self.array = array
        self.base_array = array if base is None else base
        self.dtype = array.dtype

    def data_ptr(self):
        return Storage(self.array).data_ptr()

    def untyped_storage(self):
        return Storage(self.base_array)

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def zero_(self):
        self.array[...] = 0

    @property
    def shape(self):
        return self.array.shape


def tensor(values, dtype=np.float32):
    return Tensor(np.array(values, dtype))


@pytest.fixture
def installed():
    with halfbyte.triton.installed(sm=80):
        yield
    # A test of the launch's findings must not see those of the others.
    _findings.take_errors()


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def unmasked(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i)  # the load
    tl.store(out + i, values)


@triton.jit
def halve(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i // 2, tl.load(x + i))  # the race


@triton.jit
def scalars(out, b, i, u, f, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.where(at == 0, b.to(tl.float64), tl.where(at == 1, i.to(tl.float64), tl.where(at == 2, u.to(tl.float64), f.to(tl.float64))))
    tl.store(out + at, value)


@triton.jit
def typed(out, h: tl.float16, b: tl.bfloat16, d: tl.float64, w: tl.uint64):
    tl.store(out + 0, h.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, d)
    tl.store(out + 3, w.to(tl.float64))


@triton.jit
def optional(x, out, HAS_X: tl.constexpr):
    tl.store(out, tl.load(x) if HAS_X else 7.0)


@triton.jit
def of_tuple(values, out):
    tl.store(out, tl.load(values[0]) + values[1])
    if values[2] is not None:
        tl.store(out + 1, 1.0)


@triton.jit
def transpose(x, out, stride_m, stride_n, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    tl.store(out + m * N + n, tl.load(x + m * stride_m + n * stride_n))


@triton.jit
def through(table, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(x + i))


@triton.jit
def row(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), x.load([1, 0]).reshape(BLOCK))


@triton.jit
def scaled_sum(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK)), axis=0))


@triton.jit
def count(out, SCALE: tl.constexpr):
    tl.atomic_add(out, 1)
    tl.store(out + 1, SCALE)


def pruned(configs, named_args, **kwargs):
    return [config for config in configs if config.kwargs["SCALE"] >= named_args["least"]]


@triton.autotune([triton.Config({"SCALE": scale}, num_warps=scale) for scale in (1, 2, 4)], key=[])
@triton.jit
def tuned(out, SCALE: tl.constexpr):
    tl.atomic_add(out, 1)
    tl.store(out + 1, SCALE)


@triton.autotune([triton.Config({"SCALE": scale}, num_warps=1) for scale in (1, 2, 4)], key=["least"], reset_to_zero=["out"], prune_configs_by={"early_config_prune": pruned})
@triton.jit
def pruned_first(out, least, SCALE: tl.constexpr):
    tl.atomic_add(out, 1)
    tl.store(out + 1, SCALE)


@triton.heuristics({"SCALE": lambda args: args["n"] * 2})
@triton.jit
def heuristic(out, n, SCALE: tl.constexpr):
    tl.store(out, SCALE + n * 0)


def test_a_launch_runs_in_place(installed):
    x, y, out = tensor(range(100)), tensor([1] * 100), tensor([0] * 100)
    add[(2,)](x, y, out, 100, BLOCK=64)
    assert out.array.tolist() == [i + 1 for i in range(100)]
    add[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](out, y, out, 100, BLOCK=32, num_warps=1, num_stages=2)
    assert out.array.tolist() == [i + 2 for i in range(100)]
    add[(0,)](x, y, out, 100, BLOCK=64)
    assert out.array[0] == 2


def test_uninstalling_restores_what_was_before():
    drivers = triton.runtime.driver
    before = dict(vars(drivers)), dict(triton.backends.backends), dict(vars(Autotuner)), dict(vars(threading.Thread))
    with halfbyte.triton.installed():
        inner = drivers.active
        assert isinstance(inner, _triton_driver.HalfbyteDriver)
        drivers.reset_active()
        assert drivers.active is inner
        with halfbyte.triton.installed(sm=90, races=True):
            assert drivers.active.get_current_target().arch == 90
            assert _triton_driver.current_settings().races is True
        assert drivers.active.get_current_target().arch == 80
        halfbyte.triton.install(sm="sm_89")
        assert drivers.active.get_current_target().arch == 89
    assert (dict(vars(drivers)), dict(triton.backends.backends), dict(vars(Autotuner)), dict(vars(threading.Thread))) == before
    halfbyte.triton.uninstall()
    assert dict(vars(drivers)) == before[0]


def test_settings_of_an_installation_are_checked(monkeypatch):
    for bad in (77, "x", 8.0, True):
        with pytest.raises((TypeError, ValueError), match="sm"):
            halfbyte.triton.install(sm=bad)
    monkeypatch.setenv("HALFBYTE_SM", "sm_90")
    monkeypatch.setenv("HALFBYTE_RACES", "strict")
    monkeypatch.setenv("HALFBYTE_TRITON_AUTOTUNE", "1")
    with halfbyte.triton.installed():
        settings = _triton_driver.current_settings()
        assert (settings.sm, settings.races, settings.autotune) == (90, "strict", True)
    with halfbyte.triton.installed(sm=86, races=False):
        assert (_triton_driver.current_settings().sm, _triton_driver.current_settings().races) == (86, False)
    monkeypatch.setenv("HALFBYTE_SM", "70")
    with pytest.warns(UserWarning, match="HALFBYTE_SM=70"), halfbyte.triton.installed():
        assert _triton_driver.current_settings().sm == 80


def test_compiled_kernels_belong_to_the_compute_capability(installed):
    out = tensor([0] * 64)
    x = tensor(range(64))
    texts = []
    for sm in (80, 90, 80):
        with halfbyte.triton.installed(sm=sm):
            texts.append(unmasked[(1,)](x, out, BLOCK=64).asm["ptx"])
    assert ".target sm_80" in texts[0] and ".target sm_90" in texts[1] and texts[2] == texts[0]


def test_scalars(installed):
    out = tensor([0] * 4, np.float64)
    scalars[(1,)](out, True, -5, 2**63 + 2**11, 0.5, BLOCK=4)
    assert out.array.tolist() == [1, -5, 2.0**63 + 2**11, 0.5]
    scalars[(1,)](out, False, -(2**40), 3, 1e300, BLOCK=4)
    assert out.array.tolist() == [0, -(2.0**40), 3, np.inf]
    typed[(1,)](out, 0.1, 1 + 2**-7 + 2**-8, 0.1, 2**64 - 1)
    assert out.array.tolist() == [float(np.float16(0.1)), 1 + 2**-7, 0.1, 2.0**64]


def test_none_and_tuples(installed):
    out = tensor([0, 0])
    optional[(1,)](None, out, HAS_X=False)
    assert out.array[0] == 7
    optional[(1,)](tensor([3]), out, HAS_X=True)
    assert out.array[0] == 3
    of_tuple[(1,)]((tensor([2]), 0.5, None), out)
    assert out.array.tolist() == [2.5, 0]
    of_tuple[(1,)]((tensor([2]), 1.5, 1), out)
    assert out.array.tolist() == [3.5, 1]


def test_strided_and_zero_dimensional_tensors(installed):
    array = np.arange(64 * 16, dtype=np.float32).reshape(64, 16)
    view = array[::2, :8].T
    out = tensor(np.zeros((8, 32)))
    transpose[(1,)](Tensor(view, array), out, *Tensor(view).stride(), M=8, N=32)
    assert (out.array == view).all()
    optional[(1,)](tensor(5), out, HAS_X=True)
    assert out.array[0, 0] == 5


def test_pointers_in_memory_are_looked_up(installed):
    arrays = [np.arange(32, dtype=np.float32) + at for at in range(2)]
    out = tensor([0] * 32)
    for array in arrays:
        table = tensor([array.__array_interface__["data"][0]], np.int64)
        through[(1,)](table, out, BLOCK=32)
        assert (out.array == array).all()


def test_descriptors_are_passed_in_parts(installed):
    descriptors = pytest.importorskip("triton.tools.tensor_descriptor")
    # A descriptor needs an address that is a multiple of 16.
    words = np.zeros(4 * 16 + 4, np.float32)
    start = -words.__array_interface__["data"][0] % 16 // 4
    array = words[start : start + 64].reshape(4, 16)
    array[...] = np.arange(64).reshape(4, 16)
    base, out = Tensor(array), tensor([0] * 16)
    descriptor = descriptors.TensorDescriptor(base, [4, 16], [16, 1], [1, 16])
    row[(1,)](descriptor, out, BLOCK=16)
    assert (out.array == array[1]).all()
    with halfbyte.triton.installed(sm=90), pytest.raises(hb.Error, match="help: set sm=80"):
        row[(1,)](descriptor, out, BLOCK=16)


def line_of(mark):
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def test_an_access_out_of_bounds_names_the_line_and_the_argument(installed):
    x, out = tensor([0] * 100), tensor([0] * 128)
    with pytest.raises(hb.OutOfBounds, match="`x` of @unmasked") as raised:
        unmasked[(1,)](x, out, BLOCK=128)
    file, line = raised.value.source
    assert Path(file).name == Path(__file__).name and line == line_of("the load")
    assert f"test_triton.py:{line}: values = tl.load(x + i)" in str(raised.value)
    assert [finding.kernel for finding in _findings.take_errors()] == ["unmasked"]
    unmasked[(1,)](x, out, BLOCK=64)


def test_an_error_is_recorded_if_launches_keep_going(installed, monkeypatch, capsys):
    monkeypatch.setenv("HALFBYTE_KEEP_GOING", "1")
    with halfbyte.triton.installed():
        unmasked[(1,)](tensor([0]), tensor([0] * 128), BLOCK=128)
    assert "@unmasked" in capsys.readouterr().err
    (finding,) = _findings.take_errors()
    assert finding.kind == "trap" and finding.line == line_of("the load")


def test_a_race_names_its_line():
    x, out = tensor(range(64)), tensor([0] * 32)
    with halfbyte.triton.installed(races=True):
        with pytest.raises(hb.Race) as raised:
            halve[(1,)](x, out, BLOCK=64)
        assert {line for _, line in raised.value.sources} == {line_of("the race")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hb.RaceWarning)
            scaled_sum[(1,)](tensor([1] * 128), out, BLOCK=128)
        assert out.array[0] == 128
    assert [finding.kind for finding in _findings.take_errors()] == ["race"]


def test_warnings_of_races_follow_the_filters_of_the_program():
    with halfbyte.triton.installed(races=True), warnings.catch_warnings():
        warnings.simplefilter("error", hb.RaceWarning)
        kernel = _triton_launcher.LoadedKernel.__new__(_triton_launcher.LoadedKernel)
        kernel._run = lambda *_: warnings.warn(hb.RaceWarning("two stores"), stacklevel=2)
        with pytest.raises(hb.RaceWarning, match="two stores"):
            kernel._collect_warnings(SimpleNamespace(label="k"), (1, 1, 1), None, None)


def test_autotuning_takes_the_first_configuration(installed, monkeypatch):
    out = tensor([0, 0], np.int32)
    tuned[(1,)](out)
    assert out.array.tolist() == [1, 1] and tuned.best_config.kwargs == {"SCALE": 1}
    tuned[(1,)](out)
    assert out.array.tolist() == [2, 1] and not tuned.cache
    with halfbyte.triton.installed(autotune=True):
        tuned[(1,)](out)
    assert out.array[0] == 2 + 3 + 1
    assert tuned.cache
    tuned.cache.clear()


def test_autotuning_prunes_and_resets(installed):
    out = tensor([5, 0], np.int32)
    pruned_first[(1,)](out, 2)
    # The first launch of a key resets `out`, as the measurements do.
    assert out.array.tolist() == [1, 2]
    pruned_first[(1,)](out, 2)
    assert out.array.tolist() == [2, 2]
    pruned_first[(1,)](out, 3)
    assert out.array.tolist() == [1, 4]
    assert len(pruned_first.warmup(out, 2, grid=(1,))) == 1


def test_hooks_of_configurations_are_called(installed):
    called = []
    config = triton.Config({"SCALE": 3}, pre_hook=lambda args: called.append(args["SCALE"]))
    function = triton.autotune([config, triton.Config({"SCALE": 5})], key=[])(count)
    out = tensor([0, 0], np.int32)
    function[(1,)](out)
    function[(1,)](out)
    assert called == [3, 3] and out.array.tolist() == [2, 3]


def test_heuristics(installed):
    out = tensor([0], np.int32)
    heuristic[(1,)](out, 21)
    assert out.array[0] == 42


def test_hooks_of_launches_get_the_metadata(installed):
    called = []
    knobs = triton.knobs.runtime
    if not hasattr(knobs.launch_enter_hook, "add"):
        pytest.skip("this version of Triton has one hook")
    hooks = [lambda data, name=name: called.append((name, data.get()["name"])) for name in ("enter", "exit")]
    knobs.launch_enter_hook.add(hooks[0]), knobs.launch_exit_hook.add(hooks[1])
    try:
        out = tensor([0, 0], np.int32)
        count[(1,)](out, SCALE=1)
        count[(1,)](out, SCALE=1)
    finally:
        knobs.launch_enter_hook.remove(hooks[0]), knobs.launch_exit_hook.remove(hooks[1])
    assert called == [("enter", "count"), ("exit", "count")] * 2


def test_scratch_memory():
    metadata = SimpleNamespace(name="k", num_warps=1, shared=0, global_scratch_size=8, global_scratch_align=64, profile_scratch_size=0)
    launcher = _triton_launcher.Launcher(SimpleNamespace(signature={"x": "*fp32", "N": "constexpr"}), metadata)
    launched = []
    function = SimpleNamespace(parameters=3, launch=lambda *args: launched.append(args))
    x, buffers = tensor([0]), []

    def allocate(size, alignment, stream):
        buffers.append((size, alignment))
        return tensor([0] * size, np.uint8)

    launcher(2, 3, 1, 0, function, None, None, None, None, x, 4)
    words, memory = launched[0][2].words, launched[0][2].memory
    assert words[0] == x.data_ptr() and words[1] % 64 == 0 and words[1] > 0 and words[2] == 0
    assert memory == [(x.data_ptr(), 4), (words[1], 48)]
    triton.set_allocator(allocate)
    try:
        launcher(2, 3, 1, 0, function, None, None, None, None, x, 4)
    finally:
        triton.set_allocator(triton.runtime._allocation.NullAllocator())
    assert buffers == [(48, 64)] and len(launched[1][2].memory) == 2


def test_clusters_are_refused():
    metadata = SimpleNamespace(name="k", num_warps=1, shared=0, num_ctas=2)
    with pytest.raises(hb.Error, match="num_ctas=1"):
        _triton_launcher.Launcher(SimpleNamespace(signature={}), metadata)
    assert [finding.kernel for finding in _findings.take_errors()] == ["k"]


def test_arguments_that_do_not_fit():
    pack = _triton_launcher._pack_of("k", "i32")
    for bad in (1.5, "1", None):
        with pytest.raises(TypeError):
            pack(bad, _triton_launcher._Arguments())
    with pytest.raises(OverflowError):
        pack(2**64, _triton_launcher._Arguments())
    with pytest.raises(TypeError, match="a pointer takes"):
        _triton_launcher._pack_of("k", "*fp32")(1.5, _triton_launcher._Arguments())
    with pytest.raises(hb.Error, match="nvTmaDesc"):
        _triton_launcher._pack_of("k", "nvTmaDesc")


def test_lines_of_inline_assembly():
    ptx = """.loc 1 11 23
// begin inline asm
.loc 1 11 23
mov.u32 %r1, 0x0;
.loc 1 12 23
ld.global.b32 { %r1 }, [ %rd1 + 0 ];

// end inline asm
.loc 1 12 5
ret;"""
    assert _triton_driver.with_lines_of_inline_assembly(ptx) == ptx.replace(".loc 1 12 23\n", "")


def test_kernels_that_the_engine_does_not_support(installed):
    with halfbyte.triton.installed(sm=90), pytest.raises(hb.Error, match="help: .* set sm=80"):
        _triton_launcher.load_kernel("this is no PTX", "k", _triton_driver.current_settings)
    (finding,) = _findings.take_errors()
    assert (finding.kernel, finding.kind) == ("k", "unsupported")


def test_properties_of_the_device(installed, monkeypatch):
    driver = triton.runtime.driver.active
    assert driver.get_device_capability() == (8, 0)
    assert driver.utils.get_device_properties(driver.get_current_device())["max_shared_mem"] == 166912
    assert driver.get_current_device() == 0
    monkeypatch.setenv("HALFBYTE_SMS", "16")
    with halfbyte.triton.installed(sm=90):
        properties = driver.utils.get_device_properties(0)
        assert (properties["max_shared_mem"], properties["multiprocessor_count"]) == (232448, 16)
    interface = driver.get_device_interface()
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    start.record(), end.record()
    interface.synchronize()
    assert start.elapsed_time(end) > 0
    assert len(driver.get_benchmarker()(lambda: None, quantiles=(0.5, 0.2, 0.8))) == 3


def test_multiplications_and_additions_are_fused_in_all_versions(installed, recwarn):
    backend = triton.compiler.make_backend(triton.runtime.driver.active.get_current_target())
    assert backend.parse_options({}).enable_fp_fusion
    assert not backend.parse_options({"enable_fp_fusion": False}).enable_fp_fusion
    assert not [warning for warning in recwarn if "fusion" in str(warning.message).lower()]
    assert backend.hash().endswith("-halfbyte-1")


def test_single_functions_run_without_an_installation():
    before = dict(vars(triton.runtime.driver))
    x = np.arange(64 * 16, dtype=np.float32).reshape(64, 16)[::2, :8].T
    out = np.zeros((8, 32), np.float32)
    strides = [stride // 4 for stride in x.strides]
    hb.triton(transpose)[(1,)](x, out, *strides, M=8, N=32)
    assert (out == x).all() and dict(vars(triton.runtime.driver)) == before
    numbers = np.zeros(2, np.int32)
    hb.triton(tuned)[1](numbers)
    hb.triton(heuristic)[1,](numbers[1:], 4)
    assert numbers.tolist() == [1, 8]
    hb.triton(count)[1](numbers, SCALE=3, num_warps=8)
    assert ".reqntid 256" in hb.triton(count).ptx(numbers, SCALE=3, num_warps=8)
    assert ".target sm_90" in hb.triton(tuned, sm=90).ptx(numbers)
    values = np.zeros(2, np.float32)
    hb.triton(of_tuple)[1]((np.float32([1]), np.float32(2), None), values)
    hb.triton(optional)[1](None, values[1:], HAS_X=False)
    assert values.tolist() == [3, 7]
    with pytest.raises(TypeError, match="under @triton.jit"):
        hb.triton(lambda x: None)
    assert dict(vars(triton.runtime.driver)) == before


def test_pointers_in_memory_to_arrays():
    arrays = {"hidden": np.arange(32, dtype=np.float32)}
    out = np.zeros(32, np.float32)

    def address():
        return arrays["hidden"].__array_interface__["data"][0]

    hb.triton(through)[1](np.int64([address()]), out, BLOCK=32)
    assert out.tolist() == list(range(32))
    with pytest.raises(hb.OutOfBounds):
        hb.triton(through)[1](np.int64([4096]), out, BLOCK=32)


def test_threads_have_their_own_settings(installed):
    errors = []

    def run(sm):
        try:
            kernel = hb.triton(count, sm=sm)
            for _ in range(20):
                out = np.zeros(2, np.int32)
                kernel[1](out, SCALE=2)
                assert out.tolist() == [1, 2]
                assert f".target sm_{sm}" in kernel.ptx(out, SCALE=2)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(sm,)) for sm in (80, 86, 90)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert dataclasses.replace(_triton_driver.current_settings()).sm == 80


def test_the_import_installs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import triton, halfbyte as hb\n"
        "before = dict(vars(triton.runtime.driver))\n"
        "assert callable(hb.triton)\n"
        "import halfbyte.triton\n"
        "assert type(triton.runtime.driver.active).__name__ == 'HalfbyteDriver'\n"
        "assert hb.triton is halfbyte.triton and callable(hb.triton)\n"
        "halfbyte.triton.uninstall()\n"
        "assert dict(vars(triton.runtime.driver)) == before\n"
    )
    subprocess.run([sys.executable, str(script)], check=True)


def blocks_of_the_page():
    """Yields the Python blocks of the page about Triton, with the output that the page shows."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "triton.md").read_text()
    blocks = list(re.finditer(r"^```(python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for at, block in enumerate(blocks):
        if block[1] == "python":
            shown = blocks[at + 1][2] if at + 1 < len(blocks) and blocks[at + 1][1] == "text" else ""
            yield pytest.param(block[2], shown, id=str(at))


@pytest.mark.parametrize("source, shown", list(blocks_of_the_page()))
def test_examples_of_the_page(source, shown, tmp_path):
    if "import torch" in source:
        pytest.importorskip("torch")
    script = tmp_path / "example.py"
    script.write_text(source)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == shown
