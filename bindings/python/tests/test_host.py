"""Tests of kernels on addresses of the process, and of variables of PTX texts."""

import gc

import numpy as np
import pytest

import halfbyte as hb
from halfbyte._halfbyte import HostKernel

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

TWICE = HEAD + """.visible .entry twice(.param .u64 x, .param .u32 n) {
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d0, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p, %r0, %r1;
    @%p ret;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d2, %d0, %d1;
    ld.global.u32 %r2, [%d2];
    add.u32 %r2, %r2, %r2;
    st.global.u32 [%d2], %r2;
    ret;
}
"""

# Each thread stores its number to the address in memory.
THROUGH_MEMORY = HEAD + """.visible .entry through(.param .u64 x) {
    .reg .b32 %r;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [x];
    ld.global.u64 %d1, [%d0];
    mov.u32 %r, %tid.x;
    st.global.u32 [%d1], %r;
    ret;
}
"""

# The sum of a constant and of a variable, which each launch increments.
COUNTED = HEAD + """.const .f32 factor[2] = {0f3F800000, 0f40000000};
.global .u32 launches;
.visible .entry count(.param .u64 x) {
    .reg .b32 %r;
    .reg .f32 %f;
    .reg .b64 %d;
    ld.param.u64 %d, [x];
    ld.const.f32 %f, [factor+4];
    st.global.f32 [%d], %f;
    atom.global.add.u32 %r, [launches], 1;
    st.global.u32 [%d+4], %r;
    ret;
}
"""


def memory_of(*arrays):
    return [(array.ctypes.data, array.nbytes) for array in arrays]


def test_a_kernel_accesses_the_given_memory():
    kernel = HostKernel(TWICE, "twice", "twice.ptx")
    assert (kernel.name, kernel.params, kernel.shared) == ("twice", [8, 4], 0)
    assert kernel.registers >= 1
    x = np.arange(8, dtype=np.uint32)
    kernel.launch([x.ctypes.data, 6], 1, 8, memory=memory_of(x))
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 6, 7]
    kernel.launch([x.ctypes.data, (2).to_bytes(4, "little")], (1, 1, 1), (8, 1, 1), memory=memory_of(x), engine="interp")
    assert x.tolist() == [0, 4, 4, 6, 8, 10, 6, 7]


def test_approximate_instructions_are_listed():
    text = TWICE.replace("add.u32 %r2, %r2, %r2;", ".reg .f32 %f;\n    .loc 1 5 1\n    ex2.approx.f32 %f, 0f00000000;") + '.file 1 "k.py"\n'
    assert HostKernel(text, "twice").approximations == [("ex2.approx.f32", "k.py", 5)]
    assert HostKernel(TWICE, "twice").approximations == []


@pytest.mark.parametrize("engine", ["interp", "jit"])
def test_an_address_outside_the_memory_is_an_error(engine):
    kernel = HostKernel(TWICE, "twice", "twice.ptx")
    x = np.zeros(4, np.uint32)
    with pytest.raises(hb.OutOfBounds, match="twice.ptx:15:5") as raised:
        kernel.launch([x.ctypes.data, 5], 1, 5, memory=memory_of(x), engine=engine)
    assert (raised.value.item, raised.value.line) == (4, 15)
    # Without memory, no address is valid.
    with pytest.raises(hb.OutOfBounds):
        kernel.launch([x.ctypes.data, 1], 1, 1, engine=engine)
    with pytest.raises(hb.OutOfBounds):
        kernel.launch([0, 1], 1, 1, memory=memory_of(x), engine=engine)


def test_memory_may_overlap():
    kernel = HostKernel(TWICE, "twice")
    x = np.ones(8, np.uint32)
    memory = [*memory_of(x[:2], x), (x.ctypes.data + 4, 4)]
    kernel.launch([x.ctypes.data, 8], 1, 8, memory=memory)
    assert x.tolist() == [2] * 8


def test_pointers_in_memory_are_looked_up():
    kernel = HostKernel(THROUGH_MEMORY, "through")
    y = np.zeros(1, np.uint32)
    x = np.array([y.ctypes.data], np.uint64)
    asked = []

    def find(address):
        asked.append(address)
        return (y.ctypes.data, y.nbytes)

    kernel.launch([x.ctypes.data], 1, 1, memory=memory_of(x), find=find)
    assert asked[:1] == [y.ctypes.data] and y[0] == 0
    with pytest.raises(hb.OutOfBounds):
        kernel.launch([x.ctypes.data], 1, 1, memory=memory_of(x), find=lambda _: None)
    with pytest.raises(ZeroDivisionError):
        kernel.launch([x.ctypes.data], 1, 1, memory=memory_of(x), find=lambda address: 1 // 0)


def test_races_are_errors_or_warnings():
    kernel = HostKernel(THROUGH_MEMORY, "through")
    y = np.zeros(1, np.uint32)
    x = np.array([y.ctypes.data], np.uint64)
    with pytest.raises(hb.Race):
        kernel.launch([x.ctypes.data], 1, 2, memory=memory_of(x, y), races=True)


@pytest.mark.parametrize(
    "args, error",
    [([1], TypeError), ([1, 2, 3], TypeError), ([1, 2**32], ValueError), ([1, b"abc"], ValueError), ([-1, 1], OverflowError), (["x", 1], TypeError)],
)
def test_wrong_arguments_are_refused(args, error):
    with pytest.raises(error):
        HostKernel(TWICE, "twice").launch(args, 1, 1)


def test_wrong_texts_are_refused():
    with pytest.raises(hb.ParseError, match="no such kernel|no kernel"):
        HostKernel(TWICE, "thrice")
    with pytest.raises(hb.ParseError, match="fnord"):
        HostKernel(TWICE.replace("add.u32", "fnord.u32"), "twice")


def test_variables_are_read_and_written():
    kernel = hb.parse_ptx(COUNTED)["count"]
    variables = kernel.variables
    assert list(variables) == variables.keys() == ["factor", "launches"]
    assert len(variables) == 2 and "factor" in variables and "count" not in variables
    assert variables["factor"].view(np.float32).tolist() == [1, 2]
    x = np.zeros(2, np.float32)
    kernel(x, grid=1, block=1)
    assert (x[0], x.view(np.uint32)[1]) == (2, 0)
    variables["factor"] = np.float32([3, 4])
    kernel(x, grid=1, block=1)
    assert (x[0], x.view(np.uint32)[1]) == (4, 1)
    assert variables["launches"].view(np.uint32)[0] == 2
    variables["launches"] = bytes(4)
    copy = variables["launches"]
    copy[:] = 1
    assert variables["launches"].tolist() == [0] * 4
    assert "factor (8 bytes)" in repr(variables)


def test_wrong_contents_of_variables_are_refused():
    variables = hb.parse_ptx(COUNTED)["count"].variables
    with pytest.raises(KeyError, match="factor, launches"):
        variables["total"]
    with pytest.raises(KeyError):
        variables["total"] = bytes(4)
    with pytest.raises(ValueError, match="has 8 bytes; 4 bytes were given"):
        variables["factor"] = np.float32([1])
    with pytest.raises(TypeError, match="takes an array or bytes; a float was given"):
        variables["factor"] = 1.0
    with pytest.raises(AttributeError, match="only kernels in PTX"):
        hb.parse("kernel @k() {\n^entry:\n  ret\n}")["k"].variables


def test_an_import_after_a_write_is_refused():
    text = COUNTED.replace("atom.global.add.u32 %r, [launches], 1;", "mov.u32 %r, 0;")
    kernel = hb.parse_ptx(text)["count"]
    x = np.zeros(2, np.float32)
    kernel(x, grid=1, block=1, target="halu")
    assert x[0] == 2
    kernel.variables["factor"] = np.float32([3, 4])
    with pytest.raises(ValueError, match="initial contents"):
        kernel(x, grid=1, block=1, target="halu")


def test_kernels_are_freed():
    for _ in range(100):
        HostKernel(TWICE, "twice")
    gc.collect()
