"""Tests of scalar arguments."""

import math

import numpy as np
import pytest
from conftest import fill_text

import halfbyte as hb

ml_dtypes = pytest.importorskip("ml_dtypes")


def filled(ty, value, target="ir"):
    return hb.parse(fill_text(ty))["fill"](items=1, a=value, target=target)["y"]


@pytest.mark.parametrize(
    "ty, value, expected",
    [
        ("i8", 5, 5),
        ("i8", -5, 251),
        ("i8", 255, 255),
        ("i8", -128, 128),
        ("i8", np.int8(-1), 255),
        ("i8", np.uint8(200), 200),
        ("i8", True, 1),
        ("i16", 65535, 65535),
        ("i16", -32768, 32768),
        ("i32", 2**32 - 1, 2**32 - 1),
        ("i32", -(2**31), 2**31),
        ("i32", np.int64(7), 7),
        ("i64", 2**64 - 1, 2**64 - 1),
        ("i64", -(2**63), 2**63),
        ("i64", np.uint64(2**64 - 1), 2**64 - 1),
    ],
)
def test_integers(ty, value, expected):
    assert int(filled(ty, value)[0]) % 2 ** int(ty[1:]) == expected


@pytest.mark.parametrize(
    "ty, value",
    [
        ("i8", 256),
        ("i8", -129),
        ("i8", np.int16(300)),
        ("i16", 65536),
        ("i16", -32769),
        ("i32", 2**32),
        ("i32", -(2**31) - 1),
        ("i64", 2**64),
        ("i64", -(2**63) - 1),
        ("i64", 10**30),
        ("i1", 2),
        ("f16", 65520.0),
        ("f16", -1e6),
        ("f16", 10**400),
        ("f32", 1e39),
        ("bf16", 1e39),
        ("f16x2", 0x40004000),
        ("f16x2", [1.0, 1e9]),
        ("f16x2", [1.0]),
        ("f16x2", [1.0, 2.0, 3.0]),
        ("f16x2", []),
        ("i8x4", [1, 2, 3, 256]),
        ("i8x4", np.arange(3)),
        ("i32", [1, 2]),
    ],
    ids=str,
)
def test_what_is_out_of_range_is_no_number_of_the_type(ty, value):
    with pytest.raises(ValueError, match=f"`a` of @fill is a scalar {ty}"):
        filled(ty, value)


@pytest.mark.parametrize(
    "ty, value",
    [
        ("i32", 1.0),
        ("i32", np.float32(1)),
        ("i32", "1"),
        ("i32", None),
        ("i32", 1j),
        ("f32", "1"),
        ("f32", None),
        ("f32", 1j),
        ("f32", np.complex64(1)),
        ("f16", np.datetime64(0, "s")),
        ("f16x2", "ab"),
        ("f16x2", {1: 2}),
        ("f16x2", [1.0, "x"]),
        ("f16x2", [[1.0], [2.0]]),
        ("i8x4", [1, 2, 3, 4.5]),
        ("i8x4", object()),
    ],
    ids=str,
)
def test_what_is_no_number_is_a_type_error(ty, value):
    with pytest.raises(TypeError, match=f"`a` of @fill is a scalar {ty}"):
        filled(ty, value)


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1.5, 0.1, 65504, 65519.99, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, math.inf, -math.inf, 2049, 10**4]
)
def test_halves_are_the_nearest(value):
    with np.errstate(over="ignore"):
        expected = np.float16(value)
    assert filled("f16", value)[0].tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "value, expected",
    # A conversion through float32 would round the last value twice.
    [(0.1, 0.10009765625), (1 + 2.0**-9, 1.0), (2.0**-133, 2.0**-133), (2.0**-134, 0.0), (3e38, 3.00405527047391e38), (math.inf, math.inf), (1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-7)],
)
def test_bfloat16_are_the_nearest(value, expected):
    assert float(filled("bf16", value)[0]) == float(ml_dtypes.bfloat16(expected))


def test_numbers_that_are_none():
    for ty in ("f16", "bf16", "f32", "f64"):
        assert math.isnan(float(filled(ty, math.nan)[0]))


@pytest.mark.parametrize("value", [0.1, 1e-45, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 3.4e38, np.float64(0.1), np.float16(0.1)])
def test_floats_are_the_nearest(value):
    assert filled("f32", value)[0] == np.float32(value)


def test_a_number_is_the_value_of_every_lane():
    assert filled("f16x2", 1.5).tolist() == [[1.5, 1.5]]
    assert filled("i8x4", 7).tolist() == [[7] * 4]
    assert filled("i16x2", -1).reshape(-1).view(np.uint16).tolist() == [65535] * 2


@pytest.mark.parametrize("of", [list, tuple, np.array, lambda value: np.array(value, np.float16), lambda value: np.array(value, ml_dtypes.bfloat16)])
def test_a_sequence_has_one_for_each_lane(of):
    assert filled("f16x2", of([1.5, -2.0])).tolist() == [[1.5, -2.0]]


def test_lanes_of_bytes():
    assert filled("i8x4", [1, 255, 3, -1]).tolist() == [[1, 255, 3, 255]]
    assert filled("i8x4", np.uint8([1, 2, 3, 4])).tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize("of", [np.float16, np.float32, np.float64, np.int8, np.uint32, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.array])
def test_numbers_of_numpy(of):
    assert filled("f16", of(2)).tolist() == [2.0]
    assert filled("f16x2", of(2)).tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize("value", [True, False, np.bool_(True), np.bool_(False), 1, 0])
def test_truth_values(value):
    kernel = hb.parse("""kernel @pick(%c: i1, %y: out i32) {
^entry:
  %i = item_id
  %a = const.i32 10
  %b = const.i32 20
  %r = select.i32 %c, %a, %b
  store %r, %y[%i]
  ret
}""")["pick"]
    for target in ("ir", "halu"):
        assert kernel(items=1, c=value, target=target)["y"].tolist() == [10 if value else 20]
