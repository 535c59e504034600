"""Tests of front-end arguments: types, constants, launches, and names in messages."""

import numpy as np
import pytest
from test_frontends import not_installed

import halfbyte as hb
from halfbyte import _triton_kernel
from halfbyte._halfbyte import is_expression, name_parts, parameter_names, plain_name


@pytest.fixture(scope="module")
def triton():
    """Returns the module of Triton functions, whose source Triton reads from a file."""
    try:
        import triton_functions
    except ImportError as error:
        not_installed(f"triton: {error}")
    return triton_functions


@pytest.fixture(scope="module")
def numba():
    try:
        from numba import cuda
    except Exception as error:  # numba-cuda fails in several ways where its libraries are missing
        not_installed(f"numba.cuda: {error}")
    return cuda


@pytest.fixture(scope="module")
def nvrtc():
    try:
        hb.cuda('extern "C" __global__ void k() {}', compiler="nvrtc")
    except hb.MissingPackage as missing:
        not_installed(str(missing))


class Wrapped:
    def __init__(self, value):
        self.value = value


Wrapped.__name__ = "constexpr"

NAN = np.array(0x7FF8000000000001, np.uint64).view(np.float64)
VALUES = [2, 2.0, True, 1, 1.0, False, 0, 0.0, -0.0, None, "2", 2 + 0j, float("nan"), float(NAN), (2,), (2.0,), [2], (2, (True,)), (2, (1,)), {"a": 1}, {"a": 1.0}]
VALUES += [np.float32(2), np.float64(2), np.float16(2), np.int32(2), np.int64(2), np.uint8(2), np.bool_(True), np.float32(-0.0), np.float32(0.0)]
VALUES += [np.dtype("f4"), np.dtype("f8"), np.float32, Wrapped(2), Wrapped(2.0), Wrapped(True), max, min]


def test_keys_tell_types_and_values_apart():
    keys = [_triton_kernel._exact(value) for value in VALUES]
    for number, key in enumerate(keys):
        hash(key)
        assert [other for other in range(len(keys)) if keys[other] == key] == [number], VALUES[number]
    for value in VALUES:
        assert _triton_kernel._exact(value) == _triton_kernel._exact(value)
    assert _triton_kernel._exact(float("nan")) == _triton_kernel._exact(float("nan"))
    assert _triton_kernel._exact(Wrapped(2)) == _triton_kernel._exact(Wrapped(2))
    one, other = bytearray(b"x"), bytearray(b"x")
    assert _triton_kernel._exact(one) == _triton_kernel._exact(one) != _triton_kernel._exact(other)


def test_constants_of_triton_are_told_apart(triton):
    kernel = hb.triton(triton.scaled, num_warps=1)
    out = np.zeros(1, np.float32)

    def scaled(c):
        kernel[1](np.int32([2**30]), out, C=c)
        return out[0]

    # The product overflows as an integer, but not as a float.
    for _ in range(2):
        assert [scaled(2), scaled(2.0), scaled(True), scaled(1.0), scaled(1)] == [-(2.0**31), 2.0**31, 2.0**30, 2.0**30, 2.0**30]
    assert len({kernel.ptx(np.int32([1]), out, C=c) for c in (2, 2.0, True, 1.0, 1)}) >= 3


def test_options_and_sm_of_triton_are_told_apart(triton):
    kernel = hb.triton(triton.scaled, num_warps=1)
    out = np.zeros(1, np.float32)
    texts = [kernel.ptx(np.int32([1]), out, C=2)]
    kernel.options["num_warps"] = 2
    texts.append(kernel.ptx(np.int32([1]), out, C=2))
    kernel.sm = 90
    texts.append(kernel.ptx(np.int32([1]), out, C=2))
    texts.append(kernel.ptx(np.int32([1]), out.astype(np.float64), C=2))
    assert len(set(texts)) == 4
    assert ".target sm_80" in texts[0] and ".target sm_90" in texts[2] and ".reqntid 64" in texts[1]


def test_messages_of_triton_have_the_names_of_the_function(triton):
    kernel = hb.triton(triton.scaled, num_warps=1)
    x, out = np.int32([1]), np.zeros(1, np.float32)
    kernel[1](np.full((2, 2), 3, np.int32).T, out, C=2)
    assert out[0] == 6
    with pytest.raises(TypeError, match="`out` of @scaled has dtype >f4"):
        kernel[1](x, out.astype(">f4"), C=2)
    with pytest.raises(TypeError, match="`out` of @scaled .* a masked array was given"):
        kernel[1](x, np.ma.array(out), C=2)
    with pytest.raises(TypeError, match="out"):
        kernel[1](x, C=2)
    with pytest.raises(hb.OutOfBounds, match="`out` of @scaled") as raised:
        kernel[2](np.int32([1, 1]), out, C=2)
    assert "param_" not in without_the_text(str(raised.value))


@pytest.mark.parametrize("name, bad", [("sm", -1), ("sm", 80.0), ("sm", True), ("sm", 77), ("num_warps", 0), ("num_warps", 3), ("num_warps", 4.0), ("num_warps", True), ("num_warps", "4"), ("num_warps", 64), ("num_stages", -1), ("num_stages", 1.5), ("num_ctas", 0), ("maxnreg", "x")])
def test_numbers_for_triton_are_checked(triton, name, bad):
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        hb.triton(triton.scaled, **{name: bad})


def without_the_text(shown):
    """Removes the quoted PTX lines from a message."""
    return "\n".join(line for line in shown.splitlines() if "= note" in line or "|" not in line)


def double(x, y):
    y[0] = x[0] + x[0]


def mixed(y, i, u, b, f, h):
    y[0] = i + u + f + h + (1 if b else 0)


def test_arrays_of_numba_have_the_types_of_the_signature(numba):
    kernel = hb.numba(double, "void(float32[::1], float32[::1])")
    x, y = np.float32([1, 2]), np.zeros(2, np.float32)
    kernel[1, 1](x, y)
    assert y[0] == 2
    for bad, shown in [
        (x.astype(np.float64), r"float64\[::1\]"),
        (x.astype(np.float16), r"float16\[::1\]"),
        (x.view(np.int32), r"int32\[::1\]"),
        (x.view(np.uint32), r"uint32\[::1\]"),
        (x.astype(">f4"), r">f4\[::1\]"),
        (x.reshape(1, 2), r"float32\[:, ::1\]"),
        (np.array(1, np.float32), r"float32\[\(\)\]|float32"),
        (np.zeros(4, np.float32)[::2], r"float32\[:\]"),
        (x.astype(complex), r"complex128\[::1\]"),
        (1.0, "a float was given"),
        (None, "a NoneType was given"),
        ([1.0], "a list was given"),
    ]:
        with pytest.raises(TypeError, match=rf"`x` of @double takes float32\[::1\]; .*{shown}") as raised:
            kernel[1, 1](bad, y)
        assert "_ZN" not in str(raised.value)
        with pytest.raises(TypeError, match=r"`y` of @double takes float32\[::1\]"):
            kernel[1, 1](x, bad)
    for bad in (np.ma.array(x), np.ma.array(x, mask=[0, 1])):
        with pytest.raises(TypeError, match=r"`y` of @double takes float32\[::1\]; a masked array was given.*filled"):
            kernel[1, 1](x, bad)
    assert x.tolist() == [1, 2] and y.tolist() == [2, 0]
    for args in ((x,), (x, y, y), ()):
        with pytest.raises(TypeError, match=f"@double takes 2 arguments: x, y; {len(args)} were given"):
            kernel[1, 1](*args)


def corner(x, y):
    y[0, 1] = x[0, 1]


@pytest.mark.parametrize("layout, taken, refused", [(":, ::1", "C", "F"), ("::1, :", "F", "C"), (":, :", "CF", "")])
def test_layouts_of_numba(numba, layout, taken, refused):
    kernel = hb.numba(corner, f"void(int64[{layout}], int64[{layout}])")
    x = np.arange(6).reshape(2, 3)
    for order in taken:
        y = np.zeros((2, 3), np.int64, order)
        kernel[1, 1](np.array(x, order=order), y)
        assert y.tolist() == [[0, 1, 0], [0, 0, 0]]
    for order in refused:
        with pytest.raises(TypeError, match=r"`x` of @corner takes int64\[.*; an array of type int64\["):
            kernel[1, 1](np.array(x, order=order), y)
    gaps = np.arange(24).reshape(4, 6)[::2, ::2]
    if refused:
        with pytest.raises(TypeError, match="`x` of @corner takes"):
            kernel[1, 1](gaps, y)
    else:
        kernel[1, 1](gaps, gaps[::1, ::1])
        kernel[1, 1](gaps, y)
        assert y[0, 1] == gaps[0, 1] == 2


def test_scalars_of_numba_are_held_by_their_types(numba):
    kernel = hb.numba(mixed, "void(float64[::1], int32, uint8, boolean, float32, float16)")
    y = np.zeros(1)
    good = {"i": -5, "u": 200, "b": True, "f": 0.5, "h": 2.0}

    def call(**changed):
        kernel[1, 1](y, *{**good, **changed}.values())
        return y[0]

    assert call() == 198.5
    assert call(i=np.int64(-5), u=np.uint8(200), b=np.bool_(True), f=np.float64(0.5), h=np.float16(2)) == 198.5
    assert call(i=True, b=0, f=3, h=7) == 1 + 200 + 3 + 7
    assert call(i=-(2**31), f=2**24) == -(2**31) + 200 + 1 + 2**24 + 2
    for name, bad in [("i", 1.0), ("i", 2.5), ("i", np.float32(1)), ("i", "1"), ("i", 1j), ("i", None), ("u", 1.5), ("b", 1.0), ("f", 1j), ("f", "x"), ("f", None), ("h", [1]), ("f", np.zeros(2)), ("i", np.ma.masked)]:
        with pytest.raises(TypeError, match=f"`{name}` of @mixed takes .* was given"):
            call(**{name: bad})
    for name, bad in [("i", 2**31), ("i", -(2**31) - 1), ("i", np.int64(2**40)), ("u", 256), ("u", -1), ("b", 2), ("f", 1e39), ("f", 2**24 + 1), ("f", 10**400), ("h", 65520.0), ("h", 2049)]:
        with pytest.raises(ValueError, match=f"`{name}` of @mixed takes"):
            call(**{name: bad})


def test_streams_and_shared_memory_of_numba(numba):
    def reverse(x):
        tile = numba.shared.array(0, dtype=np.int32)
        i = numba.grid(1)
        tile[i] = x[i]
        numba.syncthreads()
        x[i] = tile[numba.blockDim.x - 1 - i]

    kernel = hb.numba(reverse, "void(int32[::1])")
    for shape in [(1, 4, 0, 16), (1, 4, None, 16), ((1,), (4,), 0, np.int32(16))]:
        x = np.arange(4, dtype=np.int32)
        kernel[shape](x)
        assert x.tolist() == [3, 2, 1, 0], shape
    with pytest.raises(hb.Trap, match="shared address"):
        kernel[1, 4, 0, 8](x)
    with pytest.raises(hb.Trap, match="shared address"):
        kernel[1, 4, 0](x)
    for stream in (1, -1, False, "0", 0.5, object(), Wrapped(3)):
        with pytest.raises(ValueError, match="stream is .* give 0 or None"):
            kernel[1, 4, stream, 16]
    for shared in (-1, 1.5, True, "16", 2**32):
        with pytest.raises((TypeError, ValueError), match="^shared .*an integer from 0 to"):
            kernel[1, 4, 0, shared](x)
    for shape in (1, (1,), (1, 4, 0, 16, 1), ()):
        with pytest.raises(ValueError, match=r"kernel\[grid, block, stream, shared\]"):
            kernel[shape]


@pytest.mark.parametrize("handle", [None, 0, 1, 2])
def test_default_streams_of_drivers(numba, handle):
    class Stream:
        def __init__(self, handle):
            self.handle = handle

    kernel = hb.numba(double, "void(float32[::1], float32[::1])")
    kernel[1, 1, Stream(handle)](np.float32([1]), np.zeros(1, np.float32))
    kernel[1, 1, Stream(Wrapped(handle))](np.float32([1]), np.zeros(1, np.float32))
    with pytest.raises(ValueError, match="stream is"):
        kernel[1, 1, Stream(12345)]


def test_messages_of_numba_have_the_names_of_the_function(numba):
    kernel = hb.numba(double, "void(float32[:], float32[:])")
    y = np.zeros(1, np.float32)
    kernel[1, 1](np.float32([1, 5])[1::2], y)
    assert y[0] == 10
    with pytest.raises(hb.OutOfBounds, match="`x` of @double") as raised:
        kernel[1, 1](np.zeros(0, np.float32), np.zeros(1, np.float32))
    assert "@double, item 0" in str(raised.value) and "_ZN" not in without_the_text(str(raised.value))
    with pytest.raises((TypeError, ValueError), match=r"\bsm\b"):
        hb.numba(double, "void(float32[:], float32[:])", sm=-1)


@pytest.mark.parametrize(
    "source, name, count, names",
    [
        ("// k(int c)\n__global__ void k(const float a, float *__restrict__ x, int n = 3, float (&r)[2]) {}", "_Z1kfPfiRA2_f", 4, ["a", "x", "n", ""]),
        ("__global__ void k( ) {}", "k", 0, []),
        ("__global__ void k(int a) {} __global__ void k(float b, int c) {}", "k", 2, ["b", "c"]),
        ("__global__ void k(int a) {} __global__ void k(float b) {}", "k", 1, None),
        ("__global__ void k(int a) {}", "k", 2, None),
        ("__device__ void k(int a) {}", "k", 1, None),
    ],
)
def test_names_of_parameters_in_cuda(source, name, count, names):
    assert parameter_names(source, name, count) == names


def test_names_of_cuda():
    for name, parts in [("_Z4axpyPfS_f", ["axpy"]), ("_ZN2of4axpyEPf", ["of", "axpy"]), ("_ZN12_GLOBAL__N_11kEv", ["k"])]:
        assert name_parts(name) == parts and plain_name(name) == "::".join(parts)
    for name in ("axpy", "_Zeq", "_ZN2of9axpyE", "_Z1é", ""):
        assert name_parts(name) == [] and plain_name(name) == name
    assert is_expression("k<int>") and is_expression("k(int *)") and not is_expression("of::k")


CUDA = "__global__ void scale(float a, float *x, short n) { for (int i = 0; i < n; i++) x[i] *= a; }"


def test_messages_of_cuda_have_the_names_of_the_source(nvrtc):
    kernel = hb.cuda(CUDA)
    x = np.ones(4, np.float32)
    kernel(2.0, x, 4, grid=1, block=1)
    kernel(a=2.0, x=x, n=4, grid=1, block=1)
    kernel(**{param.name: value for param, value in zip(kernel.params, (2.0, x, 4))}, grid=1, block=1)
    assert x.tolist() == [8] * 4
    for args, message in [
        ((x, x, 4), "`a` of @scale is a .f32: it takes a number; a float32 array"),
        ((2.0, np.ones(8, np.float32)[::2], 4), "`x` of @scale .* not C-contiguous"),
        ((2.0, np.ma.array(x), 4), "`x` of @scale .* a masked array was given"),
        ((2.0, x, 2**20), "`n` of @scale .* out of range"),
        ((2.0, x), "`n` of @scale .* not given"),
        ((2.0, x, 4, 5), "@scale takes 3 arguments; 4 were given"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message) as raised:
            kernel(*args, grid=1, block=1)
        assert "_Z5scale" not in str(raised.value)
    with pytest.raises(TypeError, match="@scale has no parameter `z`; there are a, x, n"):
        kernel(z=1, a=2.0, x=x, n=4, grid=1, block=1)
    with pytest.raises(hb.OutOfBounds, match="`x` of @scale") as raised:
        kernel(2.0, x, 5, grid=1, block=1)
    assert "@scale, item 0" in str(raised.value) and "_Z5scale" not in without_the_text(str(raised.value))
    for bad in (-1, 80.0, True, 99999, "x"):
        with pytest.raises((TypeError, ValueError), match=r"\bsm\b.* one of 75"):
            hb.cuda(CUDA, sm=bad)
    unnamed = hb.cuda("__global__ void k(float *, int) {}")
    with pytest.raises(TypeError, match="`argument 2` of @k .* a str was given"):
        unnamed(x, "1", grid=1, block=1)
