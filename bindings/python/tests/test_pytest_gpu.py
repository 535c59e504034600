"""Tests of `pytest --halfbyte-gpu`, its marker and its fixture."""

import importlib.util
import re
from pathlib import Path

import pytest
from test_frontends import not_installed

import halfbyte._halfbyte
from halfbyte import _driver

pytest_plugins = "pytester"

ROOT = Path(__file__).resolve().parents[3]

KERNELS = '''
import numpy as np
import pytest
from numba import cuda, int32

@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    x[i] += 1  # line: add

@cuda.jit
def store_number(x):
    x[0] = cuda.grid(1)  # line: race

@cuda.jit
def reverse(x):
    tile = cuda.shared.array(64, int32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    x[i] = tile[63 - i]  # line: barrier

def launch(grid=3):
    x = cuda.to_device(np.zeros(64, np.float32))
    add_one[grid, 32](x)
    return x.copy_to_host()
'''

SUITE = (
    KERNELS
    + '''
launch()

def test_correct():
    assert launch(2).sum() == 64

def test_out_of_bounds():
    launch()

def test_race():
    store_number[1, 64](np.zeros(1, np.int32))

def test_missing_barrier():
    reverse[1, 64](np.arange(64, dtype=np.int32))

def test_fails_by_itself():
    launch()
    assert 1 == 2

@pytest.mark.xfail
def test_expected():
    launch()

def test_skipped():
    launch()
    pytest.skip("no reason")

def test_taken(halfbyte_gpu):
    launch()
    (error,) = halfbyte_gpu.take_errors()
    assert error.kind == "trap" and error.name == "add_one" and error.file == __file__
    assert halfbyte_gpu.take_errors() == []

@pytest.fixture
def broken():
    launch()

def test_setup(broken):
    pass
'''
)

MARKED = (
    KERNELS
    + '''
@pytest.mark.halfbyte_gpu(races=True)
def test_marker():
    store_number[1, 64](np.zeros(1, np.int32))

def test_fixture(halfbyte_gpu):
    assert launch(2).sum() == 64

def test_fixture_fails(halfbyte_gpu):
    launch()

@pytest.mark.halfbyte_gpu(sm=90)
def test_other_settings():
    pass

@pytest.mark.halfbyte_gpu(gpu="best")
def test_unknown_argument():
    pass
'''
)

UNTOUCHED = '''
import ctypes
import os
import sys

def test_nothing_is_loaded():
    assert "halfbyte.triton" not in sys.modules and "halfbyte.numba" not in sys.modules
    assert "HALFBYTE_KEEP_GOING" not in os.environ and "HALFBYTE_OWN_CACHES" not in os.environ
    if "libcuda" not in os.environ.get("LD_LIBRARY_PATH", ""):
        assert "halfbyte_take_findings" not in dir(ctypes.CDLL(None))
'''

TRITON = '''
import numpy as np
import triton
import triton.language as tl
from halfbyte._triton_memory import ArrayTensor

@triton.jit
def fill(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, i)  # line: store

def test_correct():
    x = np.zeros(64, np.int32)
    fill[(1,)](ArrayTensor(x), N=64)
    assert x.tolist() == list(range(64))

def test_out_of_bounds():
    fill[(1,)](ArrayTensor(np.zeros(60, np.int32)), N=64)
'''


TORCH = """
import pytest
import torch
import triton
import triton.language as tl

@triton.jit
def add_one(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) + 1)  # line: add

@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_device():
    x = torch.zeros(64, device="cuda")
    add_one[(1,)](x, N=64)
    assert (x == 1).all()

def test_out_of_bounds(halfbyte_gpu):
    assert torch.cuda.is_available()
    add_one[(1,)](torch.zeros(60, device="cuda"), N=64)
"""


def line_of(text, mark):
    """Returns the number of the line with a mark."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if f"# line: {mark}" in line)


@pytest.fixture
def suite(pytester, monkeypatch):
    """Returns a function that runs a suite in a process of its own."""
    try:
        _driver.folder()
    except _driver.MissingDriver as error:
        not_installed(str(error))
    for name in ("HALFBYTE_RACES", "HALFBYTE_SM", "HALFBYTE_KEEP_GOING", "HALFBYTE_OWN_CACHES", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)

    def run(text, *options):
        # The lines of the text are those of the file.
        pytester.path.joinpath("test_suite.py").write_text(text)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)

    return run


@pytest.fixture
def numba():
    if importlib.util.find_spec("numba_cuda") is None:
        not_installed("numba-cuda")


def test_errors_of_kernels_fail_their_tests(suite, numba):
    ran = suite(SUITE, "--halfbyte-gpu", "--halfbyte-races", "test_suite.py")
    ran.assert_outcomes(passed=2, failed=5, xfailed=1, errors=1)
    out = ran.stdout.str()
    add, race, barrier = (line_of(SUITE, mark) for mark in ("add", "race", "barrier"))
    ran.stdout.fnmatch_lines(["halfbyte: GPU code runs on the CPU (sm_80, races): CUDA driver,*Numba*"])
    ran.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_setup*",
            f"test_suite.py:{add}: access out of bounds in kernel add_one",
            "*_ test_out_of_bounds _*",
            f"test_suite.py:{add}: access out of bounds in kernel add_one",
            f"{add} |     x[[]i[]] += 1  # line: add",
            "*|     ^^^^^^^^^^*",
            "error: trap on ptx: @add_one, item 64: load of 4 bytes at * is out of bounds*",
            "*_ test_race _*",
            f"test_suite.py:{race}: race in kernel store_number",
            "*_ test_missing_barrier _*",
            f"test_suite.py:{barrier}: uninitialised read in kernel reverse",
            "*_ test_fails_by_itself _*",
            "E       assert 1 == 2",
            "*Captured halfbyte call*",
            f"test_suite.py:{add}: access out of bounds in kernel add_one",
            "*_ test_skipped _*",
            "*halfbyte: errors outside of tests*",
            f"test_suite.py:{add}: access out of bounds in kernel add_one",
            "halfbyte: 10 launches, 3 errors, 0 warnings",
        ]
    )
    assert ran.ret == 1 and "INTERNALERROR" not in out
    # The name of the kernel is that of the function, except in the message of the driver library on standard error.
    assert "in kernel _Z" not in out


def test_an_error_outside_of_tests_fails_the_run(suite, numba):
    ran = suite(KERNELS + "launch()\ndef test_correct():\n    launch(2)\n", "--halfbyte-gpu")
    ran.assert_outcomes(passed=1)
    assert ran.ret == 1
    ran.stdout.fnmatch_lines(["*halfbyte: errors outside of tests*", "halfbyte: 2 launches, 1 error, 0 warnings"])


def test_the_marker_and_the_fixture(suite, numba):
    ran = suite(MARKED, "--strict-markers")
    ran.assert_outcomes(passed=1, failed=2, errors=2)
    ran.stdout.no_fnmatch_line("halfbyte: GPU code*")
    ran.stdout.fnmatch_lines(
        [
            "halfbyte_gpu: HALFBYTE_SM is 80 in this process, and cannot become 90*",
            "halfbyte_gpu: @pytest.mark.halfbyte_gpu takes sm= and races=, not gpu",
            f"test_suite.py:{line_of(MARKED, 'race')}: race in kernel store_number",
            f"test_suite.py:{line_of(MARKED, 'add')}: access out of bounds in kernel add_one",
        ]
    )


def test_a_suite_without_the_option_is_untouched(suite):
    for option in ((), ("--halfbyte-sm", "90")):
        ran = suite(UNTOUCHED, *option)
        ran.assert_outcomes(passed=1)
        ran.stdout.no_fnmatch_line("halfbyte: *")


def test_races_alone_are_explained(suite):
    ran = suite(UNTOUCHED, "--halfbyte-races")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["halfbyte: without --halfbyte-gpu, --halfbyte-races applies only to tests with the marker*"])


def test_the_options(suite):
    text = "import os\ndef test_settings():\n    assert os.environ['HALFBYTE_SM'] == '90' and os.environ['HALFBYTE_RACES'] == 'strict'\n"
    ran = suite(text, "--halfbyte-gpu", "--halfbyte-sm", "90", "--halfbyte-races=strict", "test_suite.py")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["halfbyte: GPU code runs on the CPU (sm_90, races=strict): CUDA driver*", "halfbyte: 0 launches, *"])
    ran = suite(text, "--halfbyte-gpu", "--halfbyte-sm", "9000000")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["ERROR: --halfbyte-gpu: *9000000*"])


def test_a_missing_driver_library_is_an_error_of_usage(suite, monkeypatch, tmp_path):
    monkeypatch.setenv("HALFBYTE_DRIVER", str(tmp_path))
    ran = suite("def test(): pass", "--halfbyte-gpu")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["ERROR: --halfbyte-gpu: *which HALFBYTE_DRIVER names, has no libcuda.so.1"])


def test_child_processes_find_the_library(suite):
    text = """
import ctypes, os, subprocess, sys
from pathlib import Path

def test_library():
    library = ctypes.CDLL("libcuda.so.1")
    assert library.cuInit(0) == 0
    code = "import ctypes; assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert Path(os.environ["NUMBA_CACHE_DIR"]).is_dir()
"""
    suite(text, "--halfbyte-gpu").assert_outcomes(passed=1)


def test_child_processes_run_kernels(suite, numba):
    program = KERNELS + "assert launch(2).sum() == 64\n"
    text = f"""
import subprocess, sys

def test_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text({program!r})
    subprocess.run([sys.executable, str(program)], check=True)
"""
    suite(text, "--halfbyte-gpu").assert_outcomes(passed=1)


def test_errors_of_triton_fail_their_tests(suite):
    if importlib.util.find_spec("triton") is None:
        not_installed("triton")
    if not hasattr(halfbyte._halfbyte, "HostKernel"):
        pytest.skip("the extension module is older than this test")
    ran = suite(TRITON, "--halfbyte-gpu")
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(
        ["halfbyte: GPU code runs on the CPU*Triton*", f"test_suite.py:{line_of(TRITON, 'store')}: access out of bounds in kernel fill", "halfbyte: 2 launches, 1 error, *"]
    )


def test_torch_has_a_device(suite):
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    if not hasattr(halfbyte._halfbyte, "HostKernel"):
        pytest.skip("the extension module is older than this test")
    ran = suite(TORCH, "--halfbyte-gpu")
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(["halfbyte: *torch.cuda*", f"test_suite.py:{line_of(TORCH, 'add')}: access out of bounds in kernel add_one"])
    # A test without the fixture sees no device.
    after = TORCH + "\ndef test_after():\n    assert not torch.cuda.is_available()\n"
    suite(after).assert_outcomes(skipped=1, failed=1, passed=1)


def test_workers_of_xdist(suite, numba):
    pytest.importorskip("xdist.plugin")
    text = KERNELS + "def test_correct():\n    launch(2)\ndef test_out_of_bounds():\n    launch()\n"
    ran = suite(text, "--halfbyte-gpu", "-n", "2")
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(["halfbyte: 2 launches, 1 error, 0 warnings"])


def test_the_tests_of_the_manual(suite, numba):
    """The tests in docs/pytest.md have the results that the page shows."""
    page = (ROOT / "docs" / "pytest.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    ran = suite(blocks[0], "--halfbyte-gpu", "--halfbyte-races")
    ran.assert_outcomes(failed=1)
    assert shown[1].replace("test_sums.py", "test_suite.py") in ran.stdout.str()
    ran = suite(blocks[0].partition("def test_reverse")[0] + blocks[1])
    ran.assert_outcomes(passed=2)
