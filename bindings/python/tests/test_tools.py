"""Tests of `check`, the pytest plugin, `hb.testing`, `hb.np`, and `python -m halfbyte`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import AXPY

import halfbyte as hb

ROOT = Path(__file__).resolve().parents[3]

GOOD = AXPY + "; run: halu, ptx: @axpy items=2 a=2.0 x=[1.0, 3.0] y=[1.0, 0.0] -> y=[3.0, 6.0]\n"
BAD = GOOD + "; run: halu: @axpy items=1 a=2.0 x=[1.0] y=[1.0] -> y=[4.0]\n"
SELECTS = "; test: isel halu\n" + AXPY.rstrip() + "\n; rule: half_ffma\n"


def test_check_a_file(tmp_path):
    path = tmp_path / "good.hb"
    path.write_text(GOOD)
    for given in (path, str(path), [path]):
        report = hb.check(given)
        assert (report.passed, report.failed) == (1, 0) and report
    (file,) = report.files
    assert file.passed and file.name == str(path) and file.runs == 1 and file.compared == ["halu", "ptx"]
    assert repr(report).endswith("1 passed, 0 failed") and "good.hb" in repr(report)
    assert "<table" in report._repr_html_()


def test_check_says_what_is_wrong_and_raises_nothing(tmp_path):
    (tmp_path / "bad.hb").write_text(BAD)
    (tmp_path / "good.hb").write_text(GOOD)
    (tmp_path / "text.hb").write_text("what\n")
    (tmp_path / "none.hb").write_text(AXPY)
    (tmp_path / "bytes.hb").write_bytes(b"\xff\xfe")
    report = hb.check(tmp_path)
    assert (report.passed, report.failed, report.without_run_lines) == (1, 3, 1) and not report
    assert [file.passed for file in report] == [False, False, True, True, False] and len(report) == 5
    shown = repr(report)
    assert "FAILED" in shown and "bad.hb:11" in shown and "no run lines" in shown
    assert shown.endswith("1 passed, 3 failed, 1 without run lines")
    missing = hb.check(tmp_path / "missing.hb")
    assert (missing.passed, missing.failed) == (0, 1) and "missing.hb" in repr(missing)
    assert hb.check([]).failed == 0


def test_check_the_examples():
    report = hb.check(ROOT / "examples" / "groups")
    assert report.failed == 0 and report.passed > 10, report


def plugin(tmp_path, *options):
    command = [sys.executable, "-m", "pytest", "--halfbyte", "-p", "no:cacheprovider", "-q", str(tmp_path), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    return done.returncode, done.stdout + done.stderr


def test_the_plugin_collects_a_test_a_line(tmp_path):
    (tmp_path / "bad.hb").write_text(BAD)
    (tmp_path / "selects.hb").write_text(SELECTS)
    (tmp_path / "none.hb").write_text(AXPY)
    code, shown = plugin(tmp_path)
    assert code == 1 and "1 failed, 2 passed" in shown, shown
    assert "bad.hb:11" in shown and "^^^" in shown and "Traceback" not in shown
    code, shown = plugin(tmp_path, "--collect-only")
    assert "bad.hb::10: @axpy" in shown and "bad.hb::11: @axpy" in shown and "selects.hb::@axpy" in shown
    code, shown = plugin(tmp_path, "-k", "10")
    assert code == 0 and "1 passed" in shown


def test_the_plugin_shows_texts_that_are_wrong(tmp_path):
    (tmp_path / "wrong.hb").write_text(GOOD.replace("item_id", "item_di"))
    (tmp_path / "tests.hb").write_text(SELECTS.replace("half_ffma", "no_such_rule"))
    code, shown = plugin(tmp_path)
    assert code == 1 and "2 failed" in shown and "item_di" in shown and "no_such_rule" in shown, shown


def test_the_plugin_runs_ptx(tmp_path):
    text = (ROOT / "examples" / "ptx" / "axpy.ptx").read_text()
    assert "run:" in text
    (tmp_path / "axpy.ptx").write_text(text)
    code, shown = plugin(tmp_path)
    assert code == 0 and "passed" in shown, shown


def test_without_its_option_the_plugin_does_nothing(tmp_path):
    (tmp_path / "bad.hb").write_text(BAD)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 5 and "no tests ran" in done.stdout


def test_assert_selects():
    hb.testing.assert_selects(AXPY, "halu", ["HFMA2", "half_ffma"], ["HADD2"])
    hb.testing.assert_selects(AXPY, "ptx", "fma.rn.f16x2", sm=90)
    with pytest.raises(AssertionError, match="HADD2"):
        hb.testing.assert_selects(AXPY, "halu", "HADD2")
    with pytest.raises(AssertionError, match="half_ffma"):
        hb.testing.assert_selects(AXPY, "halu", [], "half_ffma")
    with pytest.raises(ValueError, match="NOTHING"):
        hb.testing.assert_selects(AXPY, "halu", "NOTHING")
    with pytest.raises(hb.ParseError):
        hb.testing.assert_selects(AXPY, "vp1", "vadd")
    with pytest.raises(hb.ParseError):
        hb.testing.assert_selects("what", "halu", "HADD2")


def test_run_and_compare():
    for x in ("random(8, 1)", np.arange(8, dtype=np.float16), list(range(8)), np.arange(8)):
        assert hb.testing.run_and_compare(AXPY, "axpy", items=8, a=2.0, x=x, y="zeros(8)") == ["halu", "ptx"]
    assert hb.testing.run_and_compare(AXPY, "axpy", items=4, a=[2.0, 1.0], x=np.ones((4, 2), np.float16), y=[[0, 1]] * 4)
    with pytest.raises(AssertionError, match="trap"):
        hb.testing.run_and_compare(AXPY, "axpy", items=8, a=2.0, x="zeros(4)", y="zeros(8)")
    with pytest.raises(AssertionError, match="no kernel"):
        hb.testing.run_and_compare(AXPY, "nothing", items=8)


def every_half():
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16)


@pytest.mark.parametrize("name, of", [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)])
def test_halves_are_as_numpy_has_them(name, of):
    x = every_half()
    y = np.roll(x, 12345)
    with np.errstate(all="ignore"):
        expected = of(x, y)
    found = getattr(hb.np, name)(x, y)
    numbers = ~np.isnan(expected)
    assert (found[numbers].view(np.uint16) == expected[numbers].view(np.uint16)).all() and np.isnan(found[~numbers]).all()


def test_fma_rounds_once():
    x, z = np.float16(1 + 2**-10), np.float16(-1 - 2**-9)
    assert hb.np.fma(x, x, z) == np.float16(2**-20)
    assert x * x + z == 0


@pytest.mark.parametrize("rounding, expected", [("rn", 0x3C00), ("rz", 0x3C00), ("rp", 0x3C01), ("rm", 0x3C00)])
def test_roundings(rounding, expected):
    assert hb.np.add(np.float16(1), np.float16(2**-11), rounding=rounding).view(np.uint16) == expected
    negative = {"rp": "rm", "rm": "rp"}.get(rounding, rounding)
    assert hb.np.add(np.float16(-1), np.float16(-(2**-11)), rounding=negative).view(np.uint16) == expected | 0x8000


def test_clamps_and_flushes():
    tiny = np.float16(2**-20)
    assert hb.np.add(tiny, tiny, ftz=True) == 0 and hb.np.add(tiny, tiny) != 0
    assert hb.np.mul(np.float16([2, -2, 0.5]), np.float16(1), sat=True).tolist() == [1, 0, 0.5]
    assert hb.np.sub(np.float16([1, 3]), np.float16(2), relu=True).tolist() == [0, 1]


def test_bfloat16_arithmetic():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(-8, 9).astype(ml_dtypes.bfloat16)
    found = hb.np.fma(x, x, x)
    assert found.dtype == x.dtype and (found == x * x + x).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_integers(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    x, y = (rng.integers(info.min, info.max, 999, dtype=dtype, endpoint=True) for _ in range(2))
    wide = lambda of: of.astype(np.int64)  # noqa: E731
    assert (hb.np.add_sat(x, y) == np.clip(wide(x) + wide(y), info.min, info.max)).all()
    assert (hb.np.sub_sat(x, y) == np.clip(wide(x) - wide(y), info.min, info.max)).all()
    assert (hb.np.absdiff(x, y) == np.abs(wide(x) - wide(y)).astype(dtype)).all()
    assert (hb.np.min(x, y) == np.minimum(x, y)).all() and (hb.np.max(x, y) == np.maximum(x, y)).all()
    total = wide(x) + wide(y)
    assert (hb.np.avg(x, y) == np.where(total >= 0, (total + 1) >> 1, total >> 1)).all()


def test_shapes_of_np():
    x = np.ones((3, 1, 5), np.float16)
    assert hb.np.add(x, np.ones((4, 1), np.float16)).shape == (3, 4, 5)
    assert hb.np.add(x[:, 0, ::2], x[:, 0, ::2]).shape == (3, 3)
    assert hb.np.add(np.float16(1), np.float16(1)).shape == ()
    assert hb.np.add(np.zeros(0, np.float16), np.zeros(0, np.float16)).shape == (0,)
    nan = np.float16(np.nan)
    assert hb.np.min(nan, np.float16(1)) == 1 and np.isnan(hb.np.max(nan, np.float16(1), nan=True))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: hb.np.add(np.float16(1), np.float32(1)), TypeError),
        (lambda: hb.np.add(np.float32(1), np.float32(1)), TypeError),
        (lambda: hb.np.add(np.int8(1), np.int8(1)), TypeError),
        (lambda: hb.np.add_sat(np.float16(1), np.float16(1)), TypeError),
        (lambda: hb.np.min(np.float64(1), np.float64(1)), TypeError),
        (lambda: hb.np.add(np.float16(1), np.float16(1), rounding="up"), ValueError),
        (lambda: hb.np.add(np.float16(1), np.float16(1), sat=True, relu=True), ValueError),
        (lambda: hb.np.add(np.zeros(2, np.float16), np.zeros(3, np.float16)), ValueError),
    ],
)
def test_what_np_does_not_take(call, error):
    with pytest.raises(error):
        call()


def program(*args, **options):
    return subprocess.run([sys.executable, "-m", "halfbyte", *args], capture_output=True, text=True, timeout=60, **options)


def test_the_program(tmp_path):
    path = tmp_path / "good.hb"
    path.write_text(GOOD)
    done = program("check", str(path))
    assert done.returncode == 0 and "1 passed, 0 failed" in done.stdout, done.stdout + done.stderr
    done = program("compile", str(path), "--target", "halu", "--emit", "asm")
    assert done.returncode == 0 and "HFMA2" in done.stdout
    assert program("--version").stdout.startswith("halfbyte ")
    assert program("nothing").returncode == 2
    path.write_text(BAD)
    assert program("check", str(path)).returncode == 1


def test_the_version():
    assert hb.__version__ == program("--version").stdout.split()[1]


def test_all_names_are_there():
    for name in hb.__all__:
        assert getattr(hb, name) is not None
        assert name.startswith("__") or getattr(hb, name).__doc__, name
