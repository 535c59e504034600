"""Tests of the record of errors in a process, of the folder of the driver library, and of functions after an import."""

import ctypes
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import halfbyte as hb
from halfbyte import _driver, _findings, _imports


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    """Gives each test a record of its own, and no driver library."""
    monkeypatch.setattr(_findings, "_record", _findings._Record())
    monkeypatch.setattr(_driver, "loaded", lambda: None)
    monkeypatch.delenv("HALFBYTE_REPORT_DIR", raising=False)


def trap(**attributes):
    return hb.Trap("error: store of 4 bytes is out of bounds\n  --> k:3", kind="out-of-bounds-global", line=3, source=("k.py", 12), **attributes)


def test_errors_are_taken_once():
    assert _findings.take_errors() == [] and _findings.latest() is None
    _findings.launched("k")
    _findings.failed("k", trap())
    _findings.failed("k", trap())
    _findings.failed("other", trap())
    assert _findings.latest().kernel == "other"
    one, other = _findings.take_errors()
    assert (one.kind, one.kernel, one.file, one.line, one.count) == ("trap", "k", "k.py", 12, 2)
    assert one.message == "store of 4 bytes is out of bounds" and "--> k:3" in one.display
    assert other.count == 1 and _findings.take_errors() == []
    _findings.failed("k", trap())
    (again,) = _findings.take_errors()
    assert again.count == 1 and one.count == 2
    assert _findings.totals() == (1, 2, 0)


@pytest.mark.parametrize(
    "error, kind",
    [
        (hb.Race("race", kind="race-global"), "race"),
        (hb.Trap("x", kind="uninitialised"), "uninitialised"),
        (hb.Trap("x", kind="uninitialised-register"), "uninitialised"),
        (hb.Budget("x", kind="budget"), "trap"),
        (hb.Cancelled("x"), "trap"),
        (hb.Refused("x"), "unsupported"),
        (hb.ParseError("x", file="k.ptx", line=4), "unsupported"),
    ],
)
def test_kinds(error, kind):
    _findings.failed("k", error)
    (found,) = _findings.take_errors()
    assert found.kind == kind
    if isinstance(error, hb.ParseError):
        assert (found.file, found.line) == ("k.ptx", 4)


def test_warnings_are_no_errors():
    _findings.warned("k", hb.RaceWarning("warning: same value", hb.Race("same value", line=3, source=("k.py", 7))))
    assert _findings.take_errors() == [] and _findings.totals() == (0, 0, 1)


def test_the_report_is_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("HALFBYTE_REPORT_DIR", str(tmp_path))
    _findings.launched("k")
    assert list(tmp_path.iterdir()) == []
    _findings.failed("k", trap())
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("report-") and file.name.endswith("-python.json")
    report = json.loads(file.read_text())
    assert report["launches"] == 1 and report["kernels"] == ["k"] and report["warnings"] == []
    assert set(report["errors"][0]) == {"kind", "kernel", "message", "display", "file", "line", "count"}
    _findings.launched("other")
    _findings._write_at_exit()
    assert json.loads(file.read_text())["kernels"] == ["k", "other"]


def test_a_process_without_launches_has_no_report(tmp_path):
    code = f"import os; os.environ['HALFBYTE_REPORT_DIR'] = {str(tmp_path)!r}; from halfbyte import _findings\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert list(tmp_path.iterdir()) == []
    code += "_findings.launched('k')\nif os.fork() == 0:\n    assert _findings.totals().launches == 0\n    raise SystemExit(0)\nassert os.wait()[1] == 0\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(list(tmp_path.iterdir())) == 1


class FakeLibrary:
    """Driver library with errors."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.halfbyte_take_findings = self.function(self.take)
        self.halfbyte_report = self.function(self.report)

    @staticmethod
    def function(texts):
        def call(buffer, size):
            text, done = texts()
            if len(text) <= size:
                buffer[: len(text)] = text
                done()
            return len(text)

        return call

    def take(self):
        return json.dumps(self.errors).encode(), self.errors.clear

    def report(self):
        return json.dumps({"launches": 3, "kernels": ["k"], "errors": [1, 2], "warnings": [3]}).encode(), lambda: None


def of_driver(**changed):
    found = {"kind": "race", "kernel": "_Z1kPf", "message": "race", "display": "x" * 5000, "file": "k.cu", "line": 5, "count": 2}
    return {**found, **changed}


def test_errors_of_the_driver_library(monkeypatch):
    library = FakeLibrary(of_driver(), of_driver(line=6), of_driver())
    monkeypatch.setattr(_driver, "loaded", lambda: library)
    _findings.failed("k", trap())
    assert _findings.latest().line == 6
    found = _findings.take_errors()
    assert [(one.kernel, one.line, one.count) for one in found] == [("k", 12, 1), ("_Z1kPf", 5, 4), ("_Z1kPf", 6, 2)]
    assert [one.name for one in found] == ["k", "k", "k"] and len(found[1].display) == 5000
    assert _findings.take_errors() == []
    assert _findings.totals() == (3, 3, 1)


def test_an_older_driver_library_is_named(monkeypatch):
    monkeypatch.setattr(_driver, "loaded", lambda: ctypes.CDLL(None))
    with pytest.raises(_driver.DriverInUse, match="halfbyte_take_findings, so that it is older than this package"):
        _findings.take_errors()
    assert _findings.latest() is None


def test_names_of_kernels():
    numba = "_ZN6test_a12_3clocals_3e3addB2v1B108cw51cXTLSUwv1sDUaKthoaNgoKmjgMVuW1AiA8rAEg2UjxRKtuAI0FEA2gSVRE8cSMKQdIgkgJq2E5ArrayIfLi1E"
    names = {"k": "k", "_Z1kPf": "k", "_ZN2of4axpyEPf": "axpy", "_Z1kIfEvPT_": "k", numba: "add", "_Z": "_Z", "_ZN": "_ZN", "": ""}
    names["_ZN4main12_3clambda_3eB2v1E"] = "<lambda>"
    for kernel, name in names.items():
        assert _findings.readable(kernel) == name


def test_the_folder_of_the_library(monkeypatch, tmp_path):
    monkeypatch.setenv("HALFBYTE_DRIVER", str(tmp_path))
    with pytest.raises(_driver.MissingDriver, match="which HALFBYTE_DRIVER names, has no libcuda.so.1"):
        _driver.folder()
    (tmp_path / "libcuda.so.1").touch()
    assert _driver.folder() == tmp_path.resolve()
    monkeypatch.delenv("HALFBYTE_DRIVER")
    monkeypatch.setattr(_driver, "__file__", str(tmp_path / "_driver.py"))
    with pytest.raises(_driver.MissingDriver, match="bindings/cuda/build release"):
        _driver.folder()
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "libcuda.so.1").touch()
    assert _driver.folder() == (tmp_path / "driver").resolve()


def test_settings_of_the_library(monkeypatch):
    monkeypatch.setattr(_driver, "_settings", {"HALFBYTE_SM": "80", "HALFBYTE_RACES": "on", "HALFBYTE_KEEP_GOING": "0"})
    monkeypatch.setattr(_driver, "loaded", lambda: True)
    monkeypatch.setattr(_driver, "_library", "library")
    assert _driver.load() == _driver.load(sm="sm_80", races=True, keep_going=False) == "library"
    for wrong in ({"sm": 90}, {"races": False}, {"races": "strict"}, {"keep_going": True}):
        with pytest.raises(_driver.DriverInUse, match="in this process, and cannot become"):
            _driver.load(**wrong)
    with pytest.raises(ValueError, match="races is 'on'"):
        _driver.load(races="on")
    for name, value, read in [
        ("HALFBYTE_RACES", "", "off"),
        ("HALFBYTE_RACES", "0", "off"),
        ("HALFBYTE_RACES", "1", "on"),
        ("HALFBYTE_RACES", "strict", "strict"),
        ("HALFBYTE_SM", None, "80"),
        ("HALFBYTE_SM", "sm_90", "90"),
        ("HALFBYTE_KEEP_GOING", "yes", "1"),
    ]:
        assert _driver._setting(name, value) == read


def test_another_driver_is_an_error(monkeypatch):
    monkeypatch.setattr(_driver, "_already_loaded", lambda _: ctypes.CDLL(None))
    monkeypatch.setattr(_driver, "_file_of", lambda *_: Path("/usr/lib/libcuda.so.1"))
    monkeypatch.setattr(_driver, "folder", lambda: Path("/nowhere"))
    with pytest.raises(_driver.DriverInUse, match="another CUDA driver, /usr/lib/libcuda.so.1"):
        _driver.load()


def test_the_file_of_a_library():
    if sys.platform.startswith("linux"):
        assert "libc" in _driver._file_of(ctypes.CDLL(None), "fopen").name


def test_functions_after_imports(tmp_path, monkeypatch):
    (tmp_path / "of_test.py").write_text("x = 1\n")
    (tmp_path / "broken_of_test.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    called = []
    _imports.after_import("of_test", lambda: called.append(sys.modules["of_test"].x))
    _imports.after_import("broken_of_test", lambda: called.append("broken"))
    _imports.after_import("missing_of_test", lambda: called.append("missing"))
    with pytest.raises(ImportError):
        import missing_of_test  # noqa: F401
    with pytest.raises(ZeroDivisionError):
        import broken_of_test  # noqa: F401
    assert called == []
    import of_test

    assert called == [1] and inspect.getsource(of_test) == "x = 1\n" and of_test.__spec__.origin.endswith("of_test.py")
    _imports.after_import("of_test", lambda: called.append("now"))
    assert called == [1, "now"]
    for name in ("of_test", "broken_of_test", "missing_of_test"):
        sys.modules.pop(name, None)
        _imports._finder.functions.pop(name, None)


def test_approximate_instructions_are_recorded_once():
    for _ in range(2):
        _findings.approximates("k", [("ex2.approx.f32", "k.py", 7)])
    found = [of for of in _findings._record.contents()["approximations"] if of["kernel"] == "k"]
    message = "the result of `ex2.approx.f32` is rounded to nearest; a GPU approximates it"
    assert [(of["kind"], of["message"], of["file"], of["line"], of["count"]) for of in found] == [("approximation", message, "k.py", 7, 1)]
