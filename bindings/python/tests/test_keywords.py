"""Tests of numeric keywords. An invalid number raises an error with the keyword and its range."""

import numpy as np
import pytest

import halfbyte as hb
from conftest import AXPY

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
COUNTS = ["grid", "block", "items", "threads", "budget", "shared"]


def arguments():
    return {"a": 2.0, "x": np.ones(16, np.float16), "y": np.ones(16, np.float16)}


def launch(axpy, **keywords):
    size = {} if {"grid", "block"} & set(keywords) else {"items": 8}
    size = {"grid": 1, "block": 8} if {"grid", "block"} & set(keywords) else size
    return axpy(**{**size, **keywords}, **arguments())


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("bad", [-1, 2**64, 10**30, 1.0, 0.5, "1", True, False, np.float32(1), [[1]], (1.0, 2), 1j])
def test_a_count_that_is_none_is_named(axpy, name, bad):
    with pytest.raises((TypeError, ValueError), match=rf"^{name} (is|takes) .*(from \d+ to \d+|one to three)"):
        launch(axpy, **{name: bad})


# `shared` is not tested, because the kernel declares no shared memory.
@pytest.mark.parametrize("name", COUNTS[:-1])
@pytest.mark.parametrize("good", [1, np.int64(1), np.uint8(1)])
def test_a_count_is_any_integer(axpy, name, good):
    launch(axpy, **{name: good})


def test_bounds_of_counts(axpy):
    launch(axpy, budget=2**64 - 1)
    launch(axpy, budget=0)
    launch(axpy, threads=2, engine="jit")
    for name, bad in [("threads", 0), ("threads", 2**16), ("shared", 2**32), ("items", 2**32)]:
        with pytest.raises(ValueError, match=f"^{name} is {bad}; give an integer from"):
            launch(axpy, **{name: bad})


@pytest.mark.parametrize("call", [lambda **kw: hb.run_ptx(PTX, 1, 1, **kw), lambda **kw: hb.parse_ptx(PTX)["k"](grid=1, block=1, **kw)])
def test_budgets_of_ptx(call):
    call(budget=3)
    call(budget=None)
    for bad in (-1, 2**70, 1.5, "x", True):
        for name in ("budget", "shared"):
            with pytest.raises((TypeError, ValueError), match=f"^{name} .*an integer from 0 to"):
                call(**{name: bad})


def test_budgets_of_programs(axpy):
    program = axpy.compile("halu").load()
    program(items=8, budget=10, shared=0, **arguments())
    for name, bad in [("budget", -1), ("shared", -1), ("threads", 1.0), ("items", True)]:
        with pytest.raises((TypeError, ValueError), match=f"^{name} .*an integer from"):
            program(**{"items": 8, name: bad}, **arguments())


@pytest.mark.parametrize("bad", [-1, -0.5, float("nan"), float("inf"), 1e30, "1", True, [1], 10**400])
def test_a_timeout_that_is_none_is_named(axpy, bad):
    for call in (lambda: launch(axpy, timeout=bad), lambda: hb.run_ptx(PTX, 1, 1, timeout=bad)):
        with pytest.raises((TypeError, ValueError), match="^timeout .*a number of seconds, 0 or more"):
            call()


def test_timeouts(axpy):
    for good in (10, 2.5, np.float32(3), None):
        launch(axpy, timeout=good)


SM_CALLS = {
    "compile": lambda k, sm: k.compile("ptx", sm=sm),
    "explain": lambda k, sm: k.explain("%r", target="ptx", sm=sm),
    "view": lambda k, sm: k.view(sm=sm),
    "call": lambda k, sm: launch(k, target="ptx", sm=sm),
    "selects": lambda k, sm: hb.testing.assert_selects(AXPY, "ptx", "fma.rn.f16x2", sm=sm),
}


@pytest.mark.parametrize("call", SM_CALLS)
@pytest.mark.parametrize("bad", [-1, 0, 85, 99999, 2**70, "x", "sm_", "sm_sm_90", "90a", 90.0, True, [90]])
def test_an_sm_that_is_none_is_named(axpy, call, bad):
    with pytest.raises((TypeError, ValueError), match=r"\bsm\b.* one of 75, 80, .*121"):
        SM_CALLS[call](axpy, bad)


@pytest.mark.parametrize("call", SM_CALLS)
def test_an_sm_is_a_number_or_a_name(axpy, call):
    for good in (90, np.int32(80), "90", "sm_75"):
        SM_CALLS[call](axpy, good)


def test_an_sm_of_run_lines(tmp_path):
    file = tmp_path / "k.hb"
    file.write_text(AXPY + "; run: ptx: @axpy items=1 a=1 x=[1] y=[1]\n")
    assert hb.check(file, sm=80).passed == hb.check(file, sm="sm_90").passed == 1
    for bad in (-1, 77, 2**40, 80.0, True):
        with pytest.raises((TypeError, ValueError), match=r"\bsm\b.* one of 75"):
            hb.check(file, sm=bad)


def test_an_sm_without_ptx_is_an_error(axpy):
    for keywords in ({"sm": 90}, {"sm": 90, "target": "halu"}):
        with pytest.raises(ValueError, match="sm is only valid for PTX"):
            launch(axpy, **keywords)
    with pytest.raises(ValueError, match="sm -1 is not supported"):
        launch(axpy, sm=-1)


def test_other_numbers():
    with pytest.raises(ValueError, match="^items is -1; give an integer"):
        hb.testing.run_and_compare(AXPY, "axpy", items=-1, a=1, x="zeros(1)", y="zeros(1)")
    with pytest.raises(TypeError, match="^height takes an integer from 1"):
        hb.View("", height="x")
