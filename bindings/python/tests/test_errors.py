"""Tests of exceptions and their attributes."""

import pickle

import numpy as np
import pytest
from conftest import AXPY, copy_text

import halfbyte as hb


def test_all_derive_from_error():
    for kind in (hb.ParseError, hb.Refused, hb.Trap, hb.Race, hb.Budget, hb.Cancelled):
        assert issubclass(kind, hb.Error) and issubclass(kind, Exception)


def test_parse_errors_show_the_place():
    text = "kernel @k(%x: in i32) {\n^entry:\n  %v = laod %x[%x]\n  ret\n}\n"
    with pytest.raises(hb.ParseError) as raised:
        hb.parse(text, file="mine.hb")
    error = raised.value
    assert (error.file, error.line, error.column) == ("mine.hb", 3, 8)
    assert "laod" in error.message
    shown = str(error)
    assert "mine.hb:3:8" in shown and "%v = laod %x[%x]" in shown and "^^^^" in shown
    assert error.all[0].line == 3


def test_several_parse_errors():
    text = "kernel @k(%y: out i32) {\n^entry:\n  %v = laod %y\n  %w = addd.i32 %v\n  ret\n}\n"
    with pytest.raises(hb.ParseError) as raised:
        hb.parse(text)
    error = raised.value
    assert [one.line for one in error.all] == [3, 4]
    assert all(isinstance(one, hb.ParseError) and "^" in str(one) for one in error.all)
    assert "laod" in str(error) and "addd" in str(error)
    assert "addd" not in str(error.all[0])


def test_columns_count_characters():
    with pytest.raises(hb.ParseError) as raised:
        hb.parse("; é\n; ü\nkernel @é( {\n")
    assert raised.value.line == 3


def test_parse_errors_of_ptx():
    with pytest.raises(hb.ParseError) as raised:
        hb.parse_ptx(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n  add.s33 %r1, %r2, %r3;\n  ret;\n}\n", file="k.ptx")
    assert raised.value.line == 5 and raised.value.file == "k.ptx" and "^" in str(raised.value)
    with pytest.raises(hb.ParseError):
        hb.parse_ptx("nothing at all")
    with pytest.raises(hb.ParseError):
        hb.parse_ptx("")


@pytest.mark.parametrize("path, error", [("missing.hb", FileNotFoundError), (".", OSError)])
def test_files_that_cannot_be_read(tmp_path, path, error):
    with pytest.raises(error):
        hb.load(tmp_path / path)


def test_parse_errors_name_their_file(tmp_path):
    for name in ("k.hb", "k.ptx"):
        path = tmp_path / name
        path.write_text("what\n")
        with pytest.raises(hb.ParseError) as raised:
            hb.load(path)
        assert raised.value.file == str(path) and raised.value.line == 1


def test_refusals_name_op_line_target_and_reason(axpy):
    with pytest.raises(hb.Refused) as raised:
        axpy.compile("vp1")
    (item,) = raised.value.items
    assert (item.op, item.line, item.target) == ("ffma.f16x2", 6, "vp1")
    assert item.reason == "VP1 has no floating-point arithmetic"
    assert "ffma.f16x2 %a, %xi, %yi" in str(raised.value)
    with pytest.raises(hb.Refused):
        axpy(items=1, a=1, x=np.zeros(2, np.float16), y=np.zeros(2, np.float16), target="vp1")


def test_several_refusals():
    text = AXPY.replace("%r  = ffma.f16x2 %a, %xi, %yi", "%s = ffma.f16x2 %a, %xi, %yi\n  %r = fmax.f16x2 %s, %yi")
    with pytest.raises(hb.Refused) as raised:
        hb.parse(text)["axpy"].compile("vp1")
    assert [item.op for item in raised.value.items] == ["ffma.f16x2", "fmax.f16x2"]


OFFSET = """kernel @offset(%k: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %j = add.i32 %i, %k
  %v = load %x[%j]
  store %v, %y[%i]
  ret
}
"""


@pytest.mark.parametrize("target, engine", [("ir", None), ("halu", "jit"), ("halu", "interp"), ("ptx", None), (None, None)])
def test_traps_say_who_and_where(target, engine):
    kernel = hb.parse(OFFSET, file="offset.hb")["offset"]
    with pytest.raises(hb.Trap) as raised:
        kernel(items=8, k=1000, x=np.zeros(1003, np.int32), target=target, engine=engine)
    trap = raised.value
    assert trap.kind == "out-of-bounds-global"
    assert trap.item == 3 and trap.line == 5
    assert trap.thread == (3, 0, 0) and trap.block == (0, 0, 0)
    assert trap.instruction and isinstance(trap.instruction, str)
    assert "offset.hb:5" in str(trap) and "load %x[%j]" in str(trap)
    assert not isinstance(trap, (hb.Race, hb.Budget))


def test_traps_of_loaded_programs():
    program = hb.parse(OFFSET)["offset"].compile("halu").load()
    with pytest.raises(hb.Trap) as raised:
        program(items=8, k=100, x=np.zeros(8, np.int32))
    assert raised.value.item == 0 and raised.value.line == 5 and "LDG" in raised.value.instruction


@pytest.mark.parametrize("target, engine", [("ir", None), ("halu", "jit"), ("halu", "interp"), ("ptx", None)])
def test_budgets(loop, target, engine):
    assert loop(items=2, n=100, budget=99, target=target, engine=engine)["y"].tolist() == [100, 100]
    with pytest.raises(hb.Budget) as raised:
        loop(items=2, n=100, budget=98, target=target, engine=engine)
    assert raised.value.kind == "budget" and raised.value.item == 0
    assert "98" in str(raised.value)


def test_the_budget_is_two_to_the_twentieth(loop):
    assert loop(items=1, n=1 << 20)["y"].tolist() == [1 << 20]
    with pytest.raises(hb.Budget):
        loop(items=1, n=(1 << 20) + 2)


@pytest.mark.parametrize("target, engine, threads", [("ir", None, None), ("halu", "jit", None), ("halu", "jit", 2), ("halu", "interp", None), ("ptx", None, None)])
def test_timeouts(loop, target, engine, threads):
    import time

    start = time.monotonic()
    with pytest.raises(hb.Cancelled, match="0.1 s"):
        loop(items=1 << 20, n=1 << 20, timeout=0.1, target=target, engine=engine, threads=threads)
    assert time.monotonic() - start < 3


RACE = """kernel @race(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %z = const.i32 0
  store %v, %y[%z]
  ret
}
"""


def test_races_on_the_evaluator():
    kernel = hb.parse(RACE)["race"]
    with pytest.raises(hb.Race) as raised:
        kernel(items=2, x=np.arange(2, dtype=np.int32), y=np.zeros(1, np.int32), target="ir")
    race = raised.value
    assert race.kind == "race-global" and race.items == [0, 1] and race.lines == [6, 6] and race.line == 6
    assert "store %v, %y[%z]" in str(race)
    kernel(items=1, x=np.zeros(2, np.int32), y=np.zeros(1, np.int32), target="ir")


@pytest.mark.parametrize("target", ["halu", "ptx", None])
def test_races_are_looked_for_where_that_is_asked(target):
    kernel = hb.parse(RACE)["race"]
    y = np.full(1, 7, np.int32)
    with pytest.raises(hb.Race):
        kernel(items=2, x=np.arange(2, dtype=np.int32), y=y, target=target, races=True)
    assert y.tolist() == [7]
    kernel(items=1, x=np.zeros(1, np.int32), y=y, target=target, races=True)
    assert y.tolist() == [0]


@pytest.mark.parametrize("target", ["halu", "ptx", "ir", None])
def test_stores_of_the_same_value_give_a_warning(target):
    kernel = hb.parse(RACE)["race"]
    x, y = np.full(2, 5, np.int32), np.full(1, 7, np.int32)
    with pytest.warns(hb.RaceWarning, match="with the same value") as warned:
        kernel(items=2, x=x, y=y, target=target, races=True)
    race = warned[0].message.race
    assert len(warned) == 1 and isinstance(race, hb.Race)
    assert race.kind == "race-global" and race.items == [0, 1] and race.lines == [6, 6]
    assert str(warned[0].message).startswith("warning: data race on ir") and y.tolist() == [5]
    y[0] = 7
    with pytest.raises(hb.Race, match="with the same value"):
        kernel(items=2, x=x, y=y, target=target, races="strict")
    assert target == "ir" or y.tolist() == [7]
    with pytest.raises(ValueError, match="races is \"lax\"; give True, False or \"strict\""):
        kernel(items=2, x=x, y=y, target=target, races="lax")
    with pytest.raises(TypeError, match="races takes True, False or"):
        kernel(items=2, x=x, y=y, target=target, races=2)


def test_stores_into_what_is_read():
    text = copy_text("i32").replace("store %v, %y[%i]", "store %v, %x[%i]")
    try:
        kernel = hb.parse(text)["copy"]
    except hb.ParseError:
        return
    with pytest.raises(hb.Trap) as raised:
        kernel(items=1, x=np.zeros(1, np.int32))
    assert raised.value.kind == "read-only"


def test_errors_are_pickled(axpy):
    kernel = hb.parse(OFFSET)["offset"]
    raised = []
    for call in (
        lambda: kernel(items=1, k=9, x=np.zeros(1, np.int32)),
        lambda: hb.parse("what"),
        lambda: axpy.compile("vp1"),
    ):
        with pytest.raises(hb.Error) as error:
            call()
        raised.append(error.value)
    for error in raised:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
    trap, parse, refused = (pickle.loads(pickle.dumps(error)) for error in raised)
    assert trap.item == 0 and trap.line == 5
    assert parse.line == 1 and len(parse.all) == len(raised[1].all)
    assert refused.items == raised[2].items
