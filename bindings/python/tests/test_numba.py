"""Tests of `halfbyte.numba`, by which kernels of Numba run on the driver library, and of `hb.numba`."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from test_frontends import not_installed

import halfbyte as hb
import halfbyte._halfbyte
from halfbyte import _driver

ROOT = Path(__file__).resolve().parents[3]
FEATURES = Path(__file__).parent / "numba_features.py"

#: Variables that change the behaviour of the driver library and of Numba.
VARIABLES = ("HALFBYTE_RACES", "HALFBYTE_SM", "HALFBYTE_KEEP_GOING", "HALFBYTE_OWN_CACHES", "NUMBA_CACHE_DIR", "PYTEST_ADDOPTS")


@pytest.fixture(scope="module")
def numba():
    if importlib.util.find_spec("numba_cuda") is None:
        not_installed("numba-cuda")


@pytest.fixture(scope="module")
def driver(numba):
    """Skips tests without the driver library."""
    try:
        _driver.folder()
    except _driver.MissingDriver as error:
        not_installed(str(error))


def variables(**changed):
    return {**{name: value for name, value in os.environ.items() if name not in VARIABLES}, **changed}


def test_functions():
    """Yields the names of the tests in the file of features."""
    for node in ast.parse(FEATURES.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


NAMES = list(test_functions())
del test_functions


@pytest.fixture(scope="module")
def features(driver, tmp_path_factory):
    """Runs the file of features. Returns the report of each test, which is empty if the test passed."""
    report = tmp_path_factory.mktemp("features") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--halfbyte-gpu", f"--junitxml={report}", str(FEATURES)]
    ran = subprocess.run(command, capture_output=True, text=True, env=variables())
    assert report.exists(), ran.stdout + ran.stderr
    reports = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name").partition("[")[0]
        failures = [part.text or part.get("message") for part in case if part.tag in ("failure", "error", "skipped")]
        reports.setdefault(name, []).extend(failures)
    return reports


@pytest.mark.parametrize("name", NAMES)
def test_features(features, name):
    assert name in features
    assert not features[name], "\n\n".join(features[name])


def run(tmp_path, text, **changed):
    """Runs a program, which is a file because Numba's line information needs the source. Returns its output."""
    program = tmp_path / "program.py"
    program.write_text(text)
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=variables(**changed))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout, ran.stderr


KERNEL = """
import numpy as np
from numba import cuda

@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    x[i] += 1

def launch(threads):
    x = cuda.to_device(np.zeros(64, np.float32))
    add_one[1, threads](x)
    cuda.synchronize()
    return x.copy_to_host().sum()
"""


def test_the_exception_has_the_line_of_the_function(driver, tmp_path):
    text = "import halfbyte.numba\n" + KERNEL + (
        "assert launch(64) == 64\n"
        "try:\n    launch(65)\nexcept cuda.cudadrv.driver.CudaAPIError as error:\n    print(error)\n    print(int(error.code))\n"
    )
    out, err = run(tmp_path, text)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in out and "700" in out.split()
    assert f'File "{tmp_path / "program.py"}", line 9, in kernel add_one: ' in out and "out of bounds" in out
    assert "out of bounds" in err


def test_numba_may_be_used_before(driver, tmp_path):
    text = KERNEL + (
        "assert not cuda.is_available()\nimport halfbyte.numba\nassert launch(64) == 64\n"
        "@cuda.jit\ndef half(x):\n    x[0] = cuda.fp16.hfma(x[0], x[1], x[1])\n"
        "x = np.float16([2, 3])\nhalf[1, 1](x)\nassert x[0] == 9\n"
        "@cuda.jit(debug=True, opt=False)\ndef debug(x):\n    x[0] = 5\n"
        "debug[1, 1](x)\nassert x[0] == 5\n"
        "@cuda.jit\ndef together(x):\n    i = cuda.grid(1)\n    x[i] = i\n    cuda.cg.this_grid().sync()\n    x[i] = x[63 - i] * 0 + x[63 - i]\n"
        "print(cuda.detect())\n"
    )
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this computer has a GPU")
    out, _ = run(tmp_path, text)
    assert "halfbyte sm_80" in out


def test_settings_are_those_of_the_first_call(driver, tmp_path):
    text = (
        "from halfbyte import _driver\n"
        "_driver.load(sm=90, races=True, keep_going=True)\n"
        "import halfbyte.numba\n"
        "from halfbyte.numba import install, is_installed\n"
        "assert is_installed()\n"
        "install()\ninstall(sm='sm_90', races=True)\n"
        "for wrong in ({'sm': 80}, {'races': False}, {'races': 'strict'}, {'keep_going': False}):\n"
        "    try:\n        install(**wrong)\n    except RuntimeError as error:\n        print(error)\n"
        "from numba import cuda\nassert cuda.get_current_device().compute_capability == (9, 0)\n" + KERNEL + "launch(65)\nlaunch(64)\n"
    )
    out, err = run(tmp_path, text)
    assert [line.split()[0] for line in out.splitlines()] == ["HALFBYTE_SM", "HALFBYTE_RACES", "HALFBYTE_RACES", "HALFBYTE_KEEP_GOING"]
    assert "HALFBYTE_SM is 90 in this process, and cannot become 80" in out and err.count("out of bounds") == 1


def test_variables_give_the_settings(driver, tmp_path):
    text = "import halfbyte.numba\n" + KERNEL + "launch(65)\nprint(tuple(cuda.get_current_device().compute_capability))\n"
    out, err = run(tmp_path, text, HALFBYTE_SM="89", HALFBYTE_KEEP_GOING="1")
    assert out == "(8, 9)\n" and "out of bounds" in err


def test_the_simulator_is_refused(driver, tmp_path):
    text = "try:\n    import halfbyte.numba\nexcept RuntimeError as error:\n    print(error)\n"
    out, _ = run(tmp_path, text, NUMBA_ENABLE_CUDASIM="1")
    assert "unset NUMBA_ENABLE_CUDASIM" in out


def test_the_module_is_callable(driver, tmp_path):
    text = (
        "import sys\nimport numpy as np\nimport halfbyte as hb\nplain = hb.numba\n"
        "assert 'halfbyte.numba' not in sys.modules and 'numba' not in sys.modules\n"
        "import halfbyte.numba\n"
        "from numba import cuda\n"
        "def twice(x):\n    x[cuda.grid(1)] *= 2\n"
        "for wrap in (plain, hb.numba):\n"
        "    x = np.ones(4)\n    wrap(twice, 'void(float64[::1])')[1, 4](x)\n    assert (x == 2).all()\n"
        "    wrap(twice)[1, 4](x)\n    assert (x == 4).all()\n"
        "assert callable(hb.numba) and hb.numba is not plain and hb.numba.install\n"
    )
    run(tmp_path, text)


def test_a_missing_package_is_named(tmp_path):
    text = "import sys\nsys.modules['numba'] = None\ntry:\n    import halfbyte.numba\nexcept ImportError as error:\n    print(type(error).__name__, error)\n"
    out, _ = run(tmp_path, text)
    assert out.startswith("MissingPackage") and 'pip install "numba-cuda[cu13]"' in out or out.startswith("MissingDriver")


def test_the_cache_is_a_folder_of_its_own(driver, tmp_path):
    text = "import halfbyte.numba, os\nprint(os.environ['NUMBA_CACHE_DIR'])\n"
    out, _ = run(tmp_path, text, NUMBA_CACHE_DIR=str(tmp_path))
    assert Path(out.strip()) != tmp_path and not Path(out.strip()).exists()


@pytest.mark.skipif(not hasattr(halfbyte._halfbyte, "HostKernel"), reason="the extension module is older than this test")
def test_the_programs_of_the_manual(driver, tmp_path):
    """The programs in docs/numba.md print what the page shows."""
    page = (ROOT / "docs" / "numba.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    out, err = run(tmp_path, "".join(blocks))
    assert (out, err) == (shown[0], "")
    out, err = run(tmp_path, blocks[0].replace("sums[4, 64]", "sums[5, 64]"), HALFBYTE_KEEP_GOING="1")
    line = re.search(r"is from sums.py:(\d+)", shown[1]).group(1)
    assert f"program.py:{line}" in err and shown[1].splitlines()[0].split("0x")[0] in err
    out, err = run(tmp_path, blocks[0].replace("    cuda.syncthreads()\n    step", "    step"), HALFBYTE_KEEP_GOING="1", HALFBYTE_RACES="on")
    line = next(number for number, text in enumerate(blocks[0].splitlines()) if "held[i] += held[i + step]" in text)
    assert f"program.py:{line}\n" in err


# Functions for `hb.numba`.
RECORD = np.dtype([("x", np.float32), ("n", np.int32)])


@pytest.fixture
def grid(numba):
    """Makes the module available to the functions below, which are defined even if Numba is missing."""
    from numba import cuda

    globals()["cuda"] = cuda


def fill_records(r):
    i = cuda.grid(1)  # noqa: F821
    r[i].n = int(r[i].x)


def copy(x, y):
    i, j = cuda.grid(2)  # noqa: F821
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]


def multiply(x, c):
    x[cuda.grid(1)] *= c  # noqa: F821


def of_record(r, x):
    x[cuda.grid(1)] = r.n  # noqa: F821


def of_tuple(t, x):
    i = cuda.grid(1)  # noqa: F821
    x[i] = t[0][i] + t[1][0] * t[1][1]


def halves(x):
    i = cuda.grid(1)  # noqa: F821
    x[i] = cuda.fp16.hfma(x[i], x[i], x[i])  # noqa: F821


def test_records(grid):
    from numba.np.numpy_support import from_dtype

    r, x = np.zeros(4, RECORD), np.zeros(4)
    r["x"] = 2
    hb.numba(fill_records, (from_dtype(RECORD)[::1],))[1, 4](r)
    assert (r["n"] == 2).all()
    hb.numba(of_record)[1, 4](r[1], x)
    assert (x == 2).all()
    with pytest.raises(TypeError, match="`r` of @of_record takes"):
        hb.numba(of_record, (from_dtype(RECORD), from_dtype(np.dtype(float))[::1]))[1, 4](2.0, x)


def test_gaps_between_elements(grid):
    kernel = hb.numba(copy, "void(float64[:, :], float64[:, :])")
    x, y = np.arange(48.0).reshape(6, 8), np.zeros((6, 8))
    kernel[1, (8, 8)](x[::2, 1::3], y[::2, 1::3])
    assert (y[::2, 1::3] == x[::2, 1::3]).all() and y.sum() == x[::2, 1::3].sum()
    with pytest.raises(hb.OutOfBounds, match="`x` of @multiply"):
        hb.numba(multiply, "void(float64[:], float64)")[1, 8](np.zeros(10)[:8:2], 2.0)


@pytest.mark.skipif(not hasattr(halfbyte._halfbyte, "HostKernel"), reason="the extension module is older than this test")
def test_negative_strides(grid):
    kernel = hb.numba(copy, "void(float64[:, :], float64[:, :])")
    x, y = np.arange(48.0).reshape(6, 8), np.zeros((6, 8))
    kernel[1, (8, 8)](x[::-1, ::-2], y[:, :4])
    assert (y[:, :4] == x[::-1, ::-2]).all() and (y[:, 4:] == 0).all()
    z = np.ones(8)
    hb.numba(multiply, "void(float64[:], float64)")[1, 8](z[::-1], -2.5)
    assert (z == -2.5).all()
    with pytest.raises(hb.OutOfBounds):
        hb.numba(multiply, "void(float64[:], float64)")[1, 9](z[::-1], 2.0)


def test_complex_numbers(grid):
    for dtype in (np.complex64, np.complex128):
        x = np.ones(4, dtype)
        hb.numba(multiply, f"void({np.dtype(dtype)}[::1], {np.dtype(dtype)})")[1, 4](x, 2j)
        assert (x == 2j).all()
    with pytest.raises(TypeError, match="`c` of @multiply takes complex128; a str was given"):
        hb.numba(multiply, "void(complex128[::1], complex128)")[1, 4](x, "2j")


def test_tuples(grid):
    x = np.zeros(4)
    kernel = hb.numba(of_tuple)
    kernel[1, 4]((np.arange(4.0), (2, 0.5)), x)
    assert (x == np.arange(4) + 1).all()
    compiled = kernel.kernel_for((np.arange(4.0), (2, 0.5)), x)
    with pytest.raises(TypeError, match=r"`t` of @of_tuple takes .*; a tuple of 1 was given"):
        compiled[1, 4]((np.arange(4.0),), x)
    with pytest.raises(TypeError, match=r"`t\[1\]\[1\]` of @of_tuple takes float64; a str was given"):
        compiled[1, 4]((np.arange(4.0), (2, "x")), x)


def test_intrinsics_of_other_files(grid):
    x = np.full(4, 2, np.float16)
    hb.numba(halves, "void(float16[::1])")[1, 4](x)
    assert (x == 6).all()


def test_a_kernel_without_a_signature(grid):
    kernel = hb.numba(multiply)
    for dtype, factor in ((np.float64, 2.0), (np.float32, 2), (np.int32, np.int32(3))):
        x = np.ones(4, dtype)
        kernel[1, 4](x, factor)
        assert (x == factor).all()
        kernel(x, factor, grid=1, block=4, races=True)
        assert (x == factor * factor).all()
    assert kernel.kernel_for(x, np.int32(3)) is kernel.kernel_for(x, np.int32(4))


class NvvmError(Exception):
    """Stands for the error of Numba with this name."""


@pytest.mark.parametrize("fails_at", ["__init__", "bind"])
def test_a_kernel_whose_lines_are_refused_is_compiled_without_lines(fails_at):
    from halfbyte import _numba_lines

    class Kernel:
        """Kernel that NVVM refuses with lines."""

        def __init__(self, name, **options):
            self.name, self.options = name, options
            self.has_lines = bool(options.get("lineinfo")) or not getattr(_numba_lines._thread, "has_no_lines", False)
            self.fail_at("__init__")

        def bind(self):
            self.fail_at("bind")
            return self.name

        def fail_at(self, place):
            if self.has_lines and place == fails_at:
                raise NvvmError(place)
            if self.options.get("is_broken"):
                raise ValueError(place)

    _numba_lines._retry_without_lines(Kernel)
    kernel = Kernel("k")
    assert kernel.bind() == "k" and not kernel.has_lines
    # The next kernel has lines again.
    with pytest.raises(ValueError):
        Kernel("k", is_broken=True)
    # Lines that the program asked for, and other errors, are not retried.
    with pytest.raises(NvvmError):
        Kernel("k", lineinfo=True).bind()
    assert not _numba_lines._thread.has_no_lines
