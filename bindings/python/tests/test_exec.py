"""Tests of the module by which `halfbyte exec` loads plug-ins into Python programs. Small modules stand in for the frameworks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import halfbyte as hb

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "bindings" / "cuda" / "python" / "sitecustomize.py"


class Program:
    """Python programs with the module, and with modules of their own."""

    def __init__(self, folder):
        self.driver = folder / "driver"
        self.modules = folder / "modules"
        (self.driver / "python").mkdir(parents=True)
        shutil.copy(SOURCE, self.driver / "python")
        self.modules.mkdir()

    def add(self, name, text):
        """Creates a module, such as `triton/__init__.py`."""
        file = self.modules / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, text, **variables):
        """Runs Python code and returns its standard output and standard error."""
        path = os.pathsep.join(map(str, [self.driver / "python", self.modules]))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
        # The folder of the tests, and of the source of the package, is not the current folder.
        done = subprocess.run([sys.executable, "-c", text], env=environment, cwd=self.modules, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr


@pytest.fixture
def program(tmp_path):
    made = Program(tmp_path)
    made.add("triton/__init__.py", "import sys\nprint('triton', 'triton' in sys.modules, type(__loader__).__name__)\nready = True\n")
    made.add("triton/runtime.py", "print('runtime')\n")
    return made


def with_package(program):
    """Adds a package `halfbyte` whose plug-in prints that it is installed."""
    program.add("halfbyte/__init__.py", "")
    program.add("halfbyte/_halfbyte.py", "")
    program.add("halfbyte/triton.py", "import triton\nprint('installed', triton.ready)\n")
    program.add("halfbyte/_numba_lines.py", "def with_lines():\n    print('lines')\n")
    return program


def test_the_plug_in_follows_triton(program):
    with_package(program)
    text = "print('start')\nimport triton.runtime\nprint(type(triton.__loader__).__name__, type(triton.__spec__.loader).__name__)"
    expected = "start\ntriton True SourceFileLoader\ninstalled True\nruntime\nSourceFileLoader SourceFileLoader\n"
    assert program.run(text) == (expected, "")


def test_the_program_may_import_the_plug_in_itself(program):
    with_package(program)
    assert program.run("import halfbyte.triton")[0].splitlines() == ["triton True SourceFileLoader", "installed True"]


@pytest.mark.parametrize("text", ["import torch", "import torch, triton", "import triton, torch"])
def test_the_plug_in_waits_for_torch(program, text):
    """The plug-in changes torch, which may import Triton before it has all its functions."""
    with_package(program)
    program.add("torch.py", "import triton\nprint('torch')\nready = True\n")
    program.add("halfbyte/triton.py", "import sys\nprint('installed', getattr(sys.modules.get('torch'), 'ready', None))\n")
    lines = program.run(text)[0].splitlines()
    assert lines[0] == "triton True SourceFileLoader"
    # If Triton comes first, so does the plug-in, which handles a later import of torch itself.
    assert lines[1:] == (["installed None", "torch"] if text == "import triton, torch" else ["torch", "installed True"])


def test_triton_can_be_reloaded_and_looked_up(program):
    with_package(program)
    text = "import importlib.util as u, pkgutil\nprint(u.find_spec('triton').origin)\nprint(pkgutil.get_data('triton', 'runtime.py'))"
    out, err = program.run(text)
    assert out.startswith(str(program.modules / "triton/__init__.py")) and "runtime" in out and not err
    reloaded = program.run("import importlib, triton\nimportlib.reload(triton)")
    assert reloaded[0].count("triton True") == 2 and not reloaded[1]


def test_a_variable_switches_the_plug_in_off(program):
    with_package(program)
    for value in ("0", "off"):
        assert program.run("import triton", HALFBYTE_TRITON=value) == ("triton True SourceFileLoader\n", "")
    assert "installed" in program.run("import triton", HALFBYTE_TRITON="1")[0]


def test_other_programs_do_not_load_the_package(program):
    program.add("halfbyte/__init__.py", "raise SystemExit('loaded')")
    assert program.run("import json\ntry:\n    import triton.missing\nexcept ImportError: print('missing')", HALFBYTE_TRITON="0")[1] == ""
    assert program.run("import json; print(1)") == ("1\n", "")


def test_a_missing_package_is_a_warning(program):
    # A folder without Python files, such as that of the Rust crate, is no package.
    program.add("halfbyte/Cargo.toml", "")
    block = "import sys\nsys.path[:] = [p for p in sys.path if not p.endswith('site-packages')]\nimport triton\nprint(triton.ready)"
    out, err = program.run(block)
    assert out.endswith("True\n")
    assert err.startswith("halfbyte: warning: Triton has no plug-in, because this Python has no package `halfbyte`")
    assert err.count("\n") == 1
    assert f"{sys.executable} -m pip install ./bindings/python" in err


def test_a_failure_of_the_plug_in_is_a_warning(program):
    with_package(program)
    program.add("halfbyte/triton.py", "raise RuntimeError('unknown version')")
    out, err = program.run("import triton\nprint(triton.ready)")
    assert out.endswith("True\n")
    assert err == "halfbyte: warning: the plug-in for Triton failed: RuntimeError: unknown version\n"
    program.add("halfbyte/triton.py", "import absent.part")
    assert "no package `absent`; install it with" in program.run("import triton")[1]


def test_the_package_is_found_around_the_driver_library(tmp_path):
    """A wheel has the driver library in the package. The program may run in another environment."""
    program = Program(tmp_path / "site" / "halfbyte")
    package = tmp_path / "site" / "halfbyte"
    for name, text in (("__init__", ""), ("_halfbyte", ""), ("triton", "print('installed', __package__)")):
        (package / f"{name}.py").write_text(text)
    program.add("triton/__init__.py", "")
    block = "import sys\nsys.path[:] = [p for p in sys.path if not p.endswith('site-packages')]\nimport triton"
    assert program.run(block) == ("installed halfbyte\n", "")


def test_the_shadowed_module_runs(program):
    with_package(program)
    program.add("sitecustomize.py", "print('own', __name__, __file__)\nvalue = 1\n")
    out, err = program.run("import sitecustomize\nprint(sitecustomize.value)\nimport triton")
    lines = out.splitlines()
    assert lines[0] == f"own sitecustomize {program.modules / 'sitecustomize.py'}" and lines[1] == "1" and lines[-1] == "installed True"
    assert not err
    program.add("sitecustomize.py", "raise ValueError('of its own')")
    out, err = program.run("import triton")
    assert "installed True" in out and "ValueError: of its own" in err


def test_numba_gets_source_lines(program):
    with_package(program)
    program.add("numba/__init__.py", "")
    program.add("numba/cuda/__init__.py", "print('cuda')")
    # The package numba-cuda has a finder of its own, which would find the real module.
    text = "import sys\nsys.meta_path[:] = [of for of in sys.meta_path if type(of).__name__ != 'NumbaCudaFinder']\nfrom numba import cuda"
    assert program.run(text) == ("cuda\nlines\n", "")
    (program.modules / "halfbyte/_numba_lines.py").unlink()
    assert program.run(text) == ("cuda\n", "")


def test_numba_compiles_with_source_lines(program):
    """The real Numba finds its module by a finder of its own."""
    pytest.importorskip("numba_cuda")
    (program.modules / "halfbyte").symlink_to(Path(hb.__file__).parent)
    text = "from numba.cuda import compiler\nprint(getattr(compiler.compile_cuda, '_has_lines', False))"
    out, err = program.run(text)
    assert out == "True\n", err


@pytest.fixture
def driver():
    """Returns the folder of the driver library in the package."""
    folder = Path(hb.__file__).parent / "driver"
    if not (folder / "libcuda.so.1").is_file():
        pytest.skip("this build of the package has no driver library")
    return folder


def test_the_package_has_the_driver_library(driver):
    assert (driver / "libnvJitLink.so.13").is_file()
    assert (driver / "python/sitecustomize.py").read_text() == SOURCE.read_text()
    stand_ins = sorted(path.name for path in (ROOT / "bindings/cuda/stand-ins").iterdir())
    assert sorted(path.name for path in (driver / "bin").iterdir()) == stand_ins
    assert all(os.access(driver / "bin" / name, os.X_OK) for name in stand_ins)


def test_the_program_of_the_package_finds_the_library(driver, tmp_path):
    """Some programs load the library as `libcuda.so`, a name that no file of the package has."""
    text = "import ctypes, os; print(ctypes.CDLL('libcuda.so').cuInit(0), os.environ['HALFBYTE_DRIVER'])"
    call = [sys.executable, "-m", "halfbyte", "exec", "--", sys.executable, "-c", text]
    environment = {name: value for name, value in os.environ.items() if name != "HALFBYTE_DRIVER"}
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"0 {driver.resolve()}\n"), done.stderr
