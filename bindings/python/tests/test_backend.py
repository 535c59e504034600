"""Tests of the build backend of the package, without a build."""

import importlib.util
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[1] / "backend.py"


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """Returns the backend in a folder of its own, and the list of its calls."""
    pytest.importorskip("maturin")
    spec = importlib.util.spec_from_file_location("backend", BACKEND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    calls = []
    monkeypatch.setattr(module, "_FOLDER", tmp_path / "bindings" / "python")
    monkeypatch.setattr(module.subprocess, "run", lambda call, check: calls.append(call))
    for name in ("build_wheel", "build_editable"):
        monkeypatch.setattr(module.maturin, name, lambda *of, name=name: calls.append([name, *of]) or "made.whl")
    return module, calls


def in_checkout(backend):
    script = backend._FOLDER.parent / "cuda" / "build"
    script.parent.mkdir(parents=True)
    script.write_text("")


def test_a_checkout_builds_the_driver_library_first(backend, monkeypatch):
    module, calls = backend
    in_checkout(module)
    stage = str(module._FOLDER / "stage")
    assert module.build_wheel("out", {"build-args": "--profile dev --features x"}) == "made.whl"
    assert [call[0] for call in calls] == [stage, "build_wheel"] and calls[0][1] == "dev"
    assert module.build_editable("out") == "made.whl"
    assert calls[2:] == [[stage, "release"], ["build_editable", "out", None, None]]
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "--profile=profiling")
    module.build_wheel("out")
    assert calls[4] == [stage, "profiling"]


def test_a_source_archive_has_no_driver_library(backend):
    module, calls = backend
    assert module.build_wheel("out") == "made.whl"
    assert calls == [["build_wheel", "out", None, None]]


def test_the_backend_has_all_hooks(backend):
    module, _ = backend
    assert all(callable(getattr(module, name)) for name in module.__all__)
