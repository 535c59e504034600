"""Tests of Triton, Numba and CUDA C++ if they are installed, and of the error if they are not."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import halfbyte as hb

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "python"


def example(name, folder=EXAMPLES):
    """Imports a file of the examples, or of another folder."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["triton", "numba"])
def test_a_package_that_is_missing_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install") as raised:
        getattr(hb, name)(lambda: None, "void()") if name == "numba" else hb.triton(lambda: None)
    assert isinstance(raised.value, hb.MissingPackage)


def not_installed(what):
    """Skips a test whose compiler is missing, except in CI."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def kernels_of(file):
    """Returns the names of the kernels in an example file from its text, because its imports may be missing."""
    lines = (EXAMPLES / f"{file}.py").read_text().splitlines()
    return [line.removeprefix("def run_").removesuffix("():") for line in lines if line.startswith("def run_")]


@pytest.mark.parametrize("file", ["triton_kernels", "numba_kernels"])
def test_there_are_ten_kernels(file):
    assert len(kernels_of(file)) == 10


@pytest.fixture(scope="module")
def triton_kernels():
    try:
        return example("triton_kernels")
    except ImportError as error:
        not_installed(f"triton: {error}")


@pytest.fixture(scope="module")
def numba_kernels():
    try:
        return example("numba_kernels")
    except Exception as error:  # numba-cuda fails in several ways where its libraries are missing
        not_installed(f"numba.cuda: {error}")


@pytest.mark.parametrize("kernel", kernels_of("triton_kernels"))
def test_kernels_of_triton(triton_kernels, kernel):
    getattr(triton_kernels, f"run_{kernel}")()


def test_a_race_of_triton_is_found_at_its_line(triton_kernels):
    assert "line" in str(triton_kernels.find_the_race())


@pytest.mark.parametrize("kernel", kernels_of("numba_kernels"))
def test_kernels_of_numba(numba_kernels, kernel):
    getattr(numba_kernels, f"run_{kernel}")()


def test_a_missing_barrier_of_numba_is_found_at_its_line(numba_kernels):
    assert "line" in str(numba_kernels.find_the_missing_barrier())


def test_barriers_of_the_grid_of_numba(numba_kernels):
    kernel = hb.numba(example("numba_sums", ROOT / "tests" / "ptx" / "grid").sums, "void(int32[::1], int32[::1], int32[::1])")
    for races in (False, True):
        x, partial, out = np.arange(500, dtype=np.int32), np.zeros(3, np.int32), np.zeros(96, np.int32)
        kernel[3, 32](x, partial, out) if not races else kernel(x, partial, out, grid=3, block=32, races=True)
        assert (partial == x.sum() + np.arange(3)).all()
        assert (out.reshape(3, 32) == np.roll(partial, -1)[:, None] + np.arange(32)).all()
    with pytest.raises(hb.Trap, match="--cooperative") as raised:
        kernel(x, partial, out, grid=3, block=32, cooperative=False)
    line = Path(raised.value.source[0]).read_text().splitlines()[raised.value.source[1] - 1]
    assert line.strip() == "grid.sync()"


AXPY = "__global__ void axpy(float a, const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }"


@pytest.mark.parametrize("source, entry", [(AXPY, "axpy"), (AXPY, None), ('extern "C" ' + AXPY, "axpy"), (AXPY, "_Z4axpyfPKfPfi")])
def test_kernels_of_cuda(nvrtc, source, entry):
    kernel = hb.cuda(source, entry)
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    kernel(2.0, x, y, 100, grid=4, block=32)
    assert (y == 2 * x + 1).all()


def test_errors_of_cuda(nvrtc):
    with pytest.raises(hb.ParseError, match="expected an expression") as raised:
        hb.cuda("\n__global__ void k() { int x = ; }", file="k.cu")
    assert raised.value.line == 2 and raised.value.file == "k.cu"
    with pytest.raises(ValueError, match="several kernels"):
        hb.cuda("__global__ void a() {}\n__global__ void b() {}")
    with pytest.raises(KeyError):
        hb.cuda(AXPY, "nothing")


def test_a_missing_barrier_of_cuda_is_found_at_its_line(nvrtc):
    source = """__global__ void next(int *out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}"""
    with pytest.raises(hb.Trap) as raised:
        hb.cuda(source, file="next.cu")(np.zeros(64, np.int32), grid=1, block=64, races=True)
    assert raised.value.source[1] in (3, 4) and "next.cu" in raised.value.source[0]
