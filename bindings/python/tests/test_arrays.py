"""Tests of buffer arguments: dtypes, shapes, views, and rejected arrays."""

import array
import ctypes

import numpy as np
import pytest
from conftest import copy_text, fill_text

import halfbyte as hb

ml_dtypes = pytest.importorskip("ml_dtypes")

TARGETS = ["ir", "halu", "ptx", None]

#: Type, dtype, and the accepted shapes of ten elements.
TAKEN = [
    ("i8", np.int8, (10,)),
    ("i8", np.uint8, (2, 5)),
    ("i16", np.int16, (10,)),
    ("i16", np.uint16, (5, 2)),
    ("i32", np.int32, (10,)),
    ("i32", np.uint32, (10, 1)),
    ("i64", np.int64, (10,)),
    ("i64", np.uint64, (10,)),
    ("f16", np.float16, (10,)),
    ("bf16", ml_dtypes.bfloat16, (10,)),
    ("bf16", np.uint16, (10,)),
    ("f32", np.float32, (10,)),
    ("f64", np.float64, (10,)),
    ("i1", np.bool_, (10,)),
    ("f16x2", np.float16, (10, 2)),
    ("f16x2", np.float16, (20,)),
    ("f16x2", np.float16, (5, 2, 2)),
    ("f16x2", np.uint32, (10,)),
    ("bf16x2", ml_dtypes.bfloat16, (10, 2)),
    ("bf16x2", np.uint16, (20,)),
    ("bf16x2", np.uint32, (10,)),
    ("i8x4", np.uint8, (10, 4)),
    ("i8x4", np.int8, (10, 4)),
    ("i8x4", np.uint8, (40,)),
    ("i8x4", np.uint32, (10,)),
    ("i16x2", np.int16, (10, 2)),
    ("i16x2", np.uint16, (20,)),
    ("i16x2", np.uint32, (10,)),
]


def some(dtype, shape):
    count = int(np.prod(shape))
    if dtype is np.bool_:
        return (np.arange(count) % 3 == 0).reshape(shape)
    return (np.arange(count) % 100).astype(dtype).reshape(shape)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ty, dtype, shape", TAKEN, ids=lambda value: getattr(value, "__name__", str(value)))
def test_buffers_take(ty, dtype, shape, target):
    if ty == "i1" and target in ("halu", "ptx"):
        pytest.skip("masks have no place in the memory of a machine")
    kernel = hb.parse(copy_text(ty))["copy"]
    x, y = some(dtype, shape), np.zeros(shape, dtype)
    results = kernel(items=10, x=x, y=y, target=target)
    assert results["y"] is y
    assert (y == x).all()


@pytest.mark.parametrize("ty", ["i8", "i8x4", "i16x2", "i32"])
def test_buffers_take_on_vp1(ty):
    kernel = hb.parse(copy_text(ty))["copy"]
    lanes = kernel.params[0].lanes
    x = some({"i8": np.uint8, "i8x4": np.uint8, "i16x2": np.uint16, "i32": np.uint32}[ty], (16, lanes))
    assert (kernel(items=16, x=x.reshape(-1), target="vp1")["y"].reshape(-1) == x.reshape(-1)).all()


@pytest.mark.parametrize(
    "ty, dtype, shape",
    [
        ("i8", np.uint8, (7,)),
        ("i16", np.int16, (7,)),
        ("i32", np.int32, (7,)),
        ("i64", np.int64, (7,)),
        ("f16", np.float16, (7,)),
        ("bf16", ml_dtypes.bfloat16, (7,)),
        ("f32", np.float32, (7,)),
        ("f64", np.float64, (7,)),
        ("i1", np.bool_, (7,)),
        ("f16x2", np.float16, (7, 2)),
        ("bf16x2", ml_dtypes.bfloat16, (7, 2)),
        ("i8x4", np.uint8, (7, 4)),
        ("i16x2", np.int16, (7, 2)),
    ],
)
def test_out_buffers_are_made(ty, dtype, shape):
    kernel = hb.parse(copy_text(ty))["copy"]
    x = some(dtype, shape)
    y = kernel(items=7, x=x)["y"]
    assert y.dtype == x.dtype and y.shape == shape
    assert (y == x).all()


def test_made_bytes_are_signed_as_those_given():
    kernel = hb.parse(copy_text("i8x4"))["copy"]
    assert kernel(items=1, x=np.zeros(4, np.int8))["y"].dtype == np.int8
    assert kernel(items=1, x=np.zeros(4, np.uint8))["y"].dtype == np.uint8


@pytest.mark.parametrize(
    "ty, wrong",
    [
        ("f16x2", np.zeros(8, np.float32)),
        ("f16x2", np.zeros(8, np.float64)),
        ("f16x2", np.zeros(8, np.uint16)),
        ("f16x2", np.zeros(8, np.int64)),
        ("f16x2", np.zeros(8, np.complex64)),
        ("f16x2", np.zeros(8, bool)),
        ("f16x2", np.zeros(8, ml_dtypes.bfloat16)),
        ("bf16x2", np.zeros(8, np.float16)),
        ("f32", np.zeros(8, np.float64)),
        ("f32", np.zeros(8, np.int32)),
        ("f64", np.zeros(8, np.float32)),
        ("i32", np.zeros(8, np.float32)),
        ("i32", np.zeros(8, np.int64)),
        ("i8", np.zeros(8, np.int16)),
        ("i8", np.zeros(8, bool)),
        ("i16", np.zeros(8, np.float16)),
        ("i64", np.zeros(8, np.int32)),
        ("i1", np.zeros(8, np.int32)),
        ("i8x4", np.zeros(8, np.float32)),
        ("i32", np.zeros(8, ">i4")),
        ("f16", np.zeros(8, ">f2")),
        ("i32", np.array(["a"] * 8)),
        ("i32", np.zeros(8, object)),
        ("i32", np.zeros(8, [("a", np.int32)])),
        ("i32", [0] * 8),
        ("i32", 8),
        ("i32", None),
        ("i32", "12345678"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["x", "y"])
def test_wrong_dtypes_are_type_errors(ty, wrong, name):
    kernel = hb.parse(copy_text(ty))["copy"]
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.uint8, "i16": np.int16}.get(ty)
    right = np.zeros(64, dtype or {"i32": np.int32, "i64": np.int64, "i1": bool, "i8x4": np.uint8}.get(ty, np.uint32))
    args = {"x": right, "y": right.copy(), name: wrong}
    with pytest.raises(TypeError, match=f"`{name}` of @copy is an `{'in' if name == 'x' else 'out'}` buffer of {ty}"):
        kernel(items=8, **args)


@pytest.mark.parametrize("ty, dtype, shape", [("f16x2", np.float16, (4, 3)), ("f16x2", np.float16, (5,)), ("i8x4", np.uint8, (4, 6)), ("i8x4", np.int8, (7,))])
def test_wrong_shapes_are_value_errors(ty, dtype, shape):
    kernel = hb.parse(copy_text(ty))["copy"]
    with pytest.raises(ValueError, match=r"`x` of @copy .* array of shape"):
        kernel(items=1, x=np.zeros(shape, dtype))


def test_other_orders_are_value_errors():
    kernel = hb.parse(copy_text("i32"))["copy"]
    whole = np.zeros((8, 8), np.int32)
    for x in (whole[::2], whole[:, 1], whole.T[1:], np.asfortranarray(np.zeros((2, 3), np.int32)), whole[::-1]):
        assert not x.flags.c_contiguous
        with pytest.raises(ValueError, match="`x` of @copy .*not C-contiguous"):
            kernel(items=1, x=x)


def test_contiguous_views_are_used_in_place():
    kernel = hb.parse(copy_text("i32"))["copy"]
    whole = np.zeros((4, 4), np.int32)
    kernel(items=4, x=np.arange(4, dtype=np.int32), y=whole[2])
    assert whole.tolist() == [[0] * 4, [0] * 4, [0, 1, 2, 3], [0] * 4]


def test_memory_at_odd_addresses_is_used_in_place():
    kernel = hb.parse(copy_text("i32"))["copy"]
    memory = np.zeros(33, np.uint8)
    y = memory[1:].view(np.int32)
    kernel(items=8, x=np.arange(8, dtype=np.int32), y=y)
    assert y.tolist() == list(range(8))


def test_read_only_arrays_are_read_and_not_written():
    kernel = hb.parse(copy_text("i32"))["copy"]
    x = np.arange(4, dtype=np.int32)
    x.setflags(write=False)
    assert kernel(items=4, x=x)["y"].tolist() == [0, 1, 2, 3]
    for name in ("in place", "new"):
        with pytest.raises(ValueError, match="`y` of @copy .*read-only"):
            kernel(items=4, x=np.zeros(4, np.int32), y=x if name == "new" else np.broadcast_to(x, (4,)))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["x", "y"])
def test_too_short_arrays_are_value_errors(name, target):
    kernel = hb.parse(copy_text("f16x2"))["copy"]
    args = {"x": np.zeros((8, 2), np.float16), "y": np.zeros((8, 2), np.float16)}
    args[name] = np.zeros((5, 2), np.float16)
    with pytest.raises(ValueError) as error:
        kernel(items=8, target=target, **args)
    shown = str(error.value)
    assert f"`{name}`" in shown and "f16x2" in shown and "float16 array of shape (5, 2)" in shown
    assert isinstance(error.value, hb.Trap) and error.value.item == 5


def test_longer_arrays_are_left_as_they_are_where_nothing_is_stored():
    kernel = hb.parse("""kernel @add(%y: inout i32) {
^entry:
  %i = item_id
  %v = load %y[%i]
  %r = add.i32 %v, %v
  store %r, %y[%i]
  ret
}""")["add"]
    y = np.ones(8, np.int32)
    kernel(items=3, y=y)
    assert y.tolist() == [2, 2, 2, 1, 1, 1, 1, 1]


def test_arrays_without_elements():
    kernel = hb.parse(copy_text("i32"))["copy"]
    assert kernel(items=0, x=np.zeros(0, np.int32))["y"].shape == (0,)
    assert kernel(items=0, x=np.zeros(0, np.int32), y=np.zeros((0, 3), np.int32))["y"].shape == (0, 3)


def test_protocols_beside_numpy():
    kernel = hb.parse(copy_text("i32"))["copy"]
    numbers = list(range(6))

    class Interface:
        """Array with only `__array_interface__`."""

        def __init__(self, of):
            self.of, self.__array_interface__ = of, of.__array_interface__

    class Dlpack:
        """Array with only DLPack."""

        def __init__(self, of):
            self.of = of

        def __dlpack__(self, **options):
            return self.of.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.of.__dlpack_device__()

    of = np.array(numbers, np.int32)
    for x in (Interface(of), Dlpack(of), array.array("i", numbers), memoryview(of), (ctypes.c_int32 * 6)(*numbers)):
        assert kernel(items=6, x=x)["y"].tolist() == numbers
    y = np.zeros(6, np.int32)
    kernel(items=6, x=of, y=Interface(y))
    assert y.tolist() == numbers
    y = array.array("i", [0] * 6)
    kernel(items=6, x=of, y=y)
    assert y.tolist() == numbers
    text = hb.parse(copy_text("i8"))["copy"]
    assert bytes(text(items=5, x=b"bytes")["y"]) == b"bytes"
    with pytest.raises(ValueError, match="read-only"):
        text(items=5, x=b"bytes", y=b"other")


def test_memory_on_a_gpu_is_copied_and_copied_back():
    class OnGpu:
        """Stand-in for CuPy arrays."""

        __cuda_array_interface__ = {}

        def __init__(self, of):
            self.there = of.copy()

        def get(self):
            return self.there.copy()

        def set(self, of):
            self.there[...] = of

    kernel = hb.parse(copy_text("i32"))["copy"]
    y = OnGpu(np.zeros(4, np.int32))
    assert kernel(items=4, x=OnGpu(np.arange(4, dtype=np.int32)), y=y)["y"] is y
    assert y.there.tolist() == [0, 1, 2, 3]


TORCH = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


@pytest.mark.parametrize("ty", TORCH)
def test_torch_tensors(ty):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, TORCH[ty])
    kernel = hb.parse(copy_text(ty))["copy"]
    x, y = torch.arange(4).to(dtype), torch.zeros(4, dtype=dtype)
    assert kernel(items=4, x=x, y=y)["y"] is y
    assert (x == y).all()


def test_torch_tensors_as_lanes_scalars_and_views(axpy):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(8, dtype=torch.float16).reshape(4, 2), torch.ones(4, 2, dtype=torch.float16)
    axpy(items=4, a=torch.tensor(2.0), x=x, y=y)
    assert (y == 2 * x + 1).all()
    halves = torch.ones(8, dtype=torch.float16)
    axpy(items=2, a=1.0, x=halves[:4], y=halves[4:])
    assert halves.tolist() == [1] * 4 + [2] * 4


def test_torch_tensors_that_are_refused(axpy):
    torch = pytest.importorskip("torch")
    halves = torch.ones(8, dtype=torch.float16)
    with pytest.raises(ValueError, match="`x` .*not C-contiguous"):
        axpy(items=2, a=1.0, x=halves[::2], y=halves)
    with pytest.raises(TypeError, match="`y` .*float32"):
        axpy(items=2, a=1.0, x=halves, y=halves.float())
    with pytest.raises(TypeError, match="meta"):
        axpy(items=2, a=1.0, x=halves.to("meta"), y=halves)


def test_float8():
    for ty, dtype in (("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)):
        try:
            kernel = hb.parse(copy_text(ty))["copy"]
        except hb.ParseError:
            pytest.skip("the IR has no buffers of float8")
        x = np.arange(8).astype(dtype)
        y = kernel(items=8, x=x)["y"]
        assert y.dtype == x.dtype and (y == x).all()
        assert (kernel(items=8, x=x.view(np.uint8), y=y.view(np.uint8))["y"] == x.view(np.uint8)).all()


@pytest.mark.parametrize("lanes", [2, 4, 16])
def test_masks_of_several_lanes_are_bools(lanes):
    kernel = hb.parse(copy_text(f"i1x{lanes}"))["copy"]
    x = np.arange(6 * lanes).reshape(6, lanes) % 3 == 0
    y = np.zeros((6, lanes), bool)
    assert kernel(items=6, x=x, y=y, target="ir")["y"] is y
    assert (y == x).all()
    assert (kernel(items=6, x=x.reshape(-1), target="ir")["y"] == x).all()


def test_subclasses_of_arrays():
    kernel = hb.parse(copy_text("i32"))["copy"]

    class Own(np.ndarray):
        pass

    x = np.arange(4, dtype=np.int32).view(Own)
    assert kernel(items=4, x=x)["y"].tolist() == [0, 1, 2, 3]


MASKED_PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n) { ret; }
"""


def masked(values, dtype, mask=True):
    return np.ma.array(values, dtype=dtype, mask=mask)


@pytest.mark.parametrize("mask", [True, False, np.ma.nomask])
@pytest.mark.parametrize("target", TARGETS)
def test_masked_arrays_are_refused(target, mask):
    kernel = hb.parse(copy_text("f32"))["copy"]
    plain = np.zeros(4, np.float32)
    for name in ("x", "y"):
        given = masked([1, 2, 3, 4], np.float32, mask)
        with pytest.raises(TypeError, match=rf"`{name}` of @copy .* a masked array was given.*`\.filled\(value\)`"):
            kernel(items=4, target=target, **{"x": plain, "y": plain.copy(), name: given})
        assert given.data.tolist() == [1, 2, 3, 4]
    hidden = masked([1, 2, 3, 4], np.float32, [0, 1, 0, 0])
    assert kernel(items=4, x=hidden.filled(9), target=target)["y"].tolist() == [1, 9, 3, 4]
    assert kernel(items=4, x=hidden.data, target=target)["y"].tolist() == [1, 2, 3, 4]


def test_masked_numbers_are_refused():
    kernel = hb.parse(fill_text("i16x2"))["fill"]
    for bad in (np.ma.masked, masked(5, np.int64), masked([1, 2], np.int64), [1, np.ma.masked], [1, masked(2, np.int64)]):
        with pytest.raises(TypeError, match="`a` of @fill .* a masked array was given"):
            kernel(items=1, a=bad)
    assert kernel(items=1, a=masked([1, 2], np.int64).filled(0))["y"].tolist() == [[0, 0]]


def test_masked_arrays_of_ptx_and_programs_are_refused():
    x = masked([1, 2], np.float32)
    for args in ([x, 1], [np.zeros(2, np.float32), masked(1, np.int32)], {"x": x, "n": 1}):
        with pytest.raises(TypeError, match="`[xn]` of @k .* a masked array was given"):
            hb.run_ptx(MASKED_PTX, 1, 1, args)
    with pytest.raises(TypeError, match="a masked array was given"):
        hb.parse_ptx(MASKED_PTX)["k"](x, 1, grid=1, block=1)
    with pytest.raises(TypeError, match="`y` of @copy .* a masked array was given"):
        hb.parse(copy_text("f32"))["copy"].compile("halu").load()(np.zeros(2, np.float32), x, items=2)
    with pytest.raises(TypeError, match="operand 2 takes an array or a number; a masked array was given"):
        hb.np.add_sat(np.uint8([1]), masked([1], np.uint8))
    with pytest.raises(TypeError, match="`x` takes .* a masked array was given"):
        hb.testing.run_and_compare(copy_text("f32"), "copy", items=2, x=x)
