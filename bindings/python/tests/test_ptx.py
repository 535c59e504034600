"""Tests of `run_ptx` and of kernels from `parse_ptx`."""

import numpy as np
import pytest

import halfbyte as hb

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

#: y[i] = a * x[i] + y[i] for i < n.
SAXPY = HEAD + """.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<6>;
  ld.param.u32 %r0, [n];
  ld.param.f32 %f0, [a];
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra done;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d3, %d0, %d2;
  add.u64 %d4, %d1, %d2;
  ld.global.f32 %f1, [%d3];
  ld.global.f32 %f2, [%d4];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%d4], %f3;
done:
  ret;
}
"""


def saxpy_args(n=100):
    return [n, 2.0, np.arange(n, dtype=np.float32), np.ones(n, np.float32)]


def test_arrays_are_written_in_place():
    args = saxpy_args()
    assert hb.run_ptx(SAXPY, 4, 32, args) is None
    assert (args[3] == 2 * np.arange(100) + 1).all()


@pytest.mark.parametrize("grid, block", [(4, 32), ((4,), (32,)), ((4, 1), (32, 1, 1)), ([4, 1, 1], [32]), (np.int64(4), np.int32(32))])
def test_shapes(grid, block):
    args = saxpy_args()
    hb.run_ptx(SAXPY, grid, block, args)
    assert (args[3] == 2 * np.arange(100) + 1).all()


def test_arguments_by_name():
    n, a, x, y = saxpy_args()
    hb.run_ptx(SAXPY, 4, 32, {"y": y, "x": x, "n": n, "a": a})
    assert (y == 2 * x + 1).all()


@pytest.mark.parametrize("a", [2, 2.0, np.float32(2), np.float64(2), np.int32(2), np.float16(2)])
def test_numbers(a):
    args = saxpy_args()
    args[1] = a
    hb.run_ptx(SAXPY, 4, 32, args)
    assert args[3][1] == 3


@pytest.mark.parametrize("n", [100, np.int32(100), np.uint64(100), True])
def test_integers(n):
    args = saxpy_args()
    args[0] = n
    hb.run_ptx(SAXPY, 4, 32, args)
    assert args[3][0] == 1 and args[3][1] == (3 if n > 1 else 1)


@pytest.mark.parametrize(
    "number, value, error",
    [
        (0, 2**32, ValueError),
        (0, -(2**31) - 1, ValueError),
        (0, 1.5, TypeError),
        (0, "1", TypeError),
        (0, None, TypeError),
        (0, np.zeros(3, np.int32), TypeError),
        (1, "1", TypeError),
        (1, 1e39, ValueError),
        (2, "x", TypeError),
        (2, 1.5, TypeError),
        (2, [1.0, 2.0], TypeError),
        (2, np.zeros((4, 4), np.float32).T[1:], ValueError),
    ],
)
def test_what_parameters_do_not_take(number, value, error):
    args = saxpy_args()
    args[number] = value
    with pytest.raises(error, match=f"`{'n a x y'.split()[number]}` of @saxpy"):
        hb.run_ptx(SAXPY, 4, 32, args)


def test_wrong_calls():
    with pytest.raises(TypeError, match="`y` of @saxpy.* not given"):
        hb.run_ptx(SAXPY, 1, 1, saxpy_args()[:3])
    with pytest.raises(TypeError, match="takes 4 arguments"):
        hb.run_ptx(SAXPY, 1, 1, [*saxpy_args(), 1])
    with pytest.raises(TypeError, match="no parameter `z`"):
        hb.run_ptx(SAXPY, 1, 1, {**dict(zip("naxy", saxpy_args())), "z": 1})
    with pytest.raises(TypeError):
        hb.run_ptx(SAXPY, 1, 1, 3)
    with pytest.raises(ValueError, match="1024"):
        hb.run_ptx(SAXPY, 1, 2048, saxpy_args())
    with pytest.raises(ValueError, match='unknown kernel "daxpy"; the kernels are saxpy'):
        hb.run_ptx(SAXPY, 1, 1, saxpy_args(), entry="daxpy")


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.float16])
def test_memory_has_any_dtype(dtype):
    x = np.arange(8, dtype=np.float32)
    y = np.zeros(8, np.float32)
    hb.run_ptx(SAXPY, 1, 8, [8, 1.0, x.view(dtype), y.view(dtype)])
    assert (y == x).all()


@pytest.mark.parametrize("dtype", [object, [("a", object)]])
def test_references_are_no_memory(dtype):
    with pytest.raises(TypeError, match="of Python objects was given"):
        hb.run_ptx(SAXPY, 1, 1, [1, 1.0, np.zeros(8, np.float32), np.zeros(8, dtype)])


def test_two_views_of_one_array_alias():
    memory = np.arange(16, dtype=np.float32)
    hb.run_ptx(SAXPY, 1, 8, [8, 1.0, memory, memory])
    assert memory.tolist() == [2.0 * i for i in range(8)] + list(range(8, 16))
    # Blocks of one thread run in order, so that an item reads the result of the item four before it.
    memory = np.ones(12, np.float32)
    hb.run_ptx(SAXPY, 8, 1, [8, 1.0, memory[:8], memory[4:]])
    assert memory.tolist() == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    memory = np.ones(12, np.float32)
    hb.run_ptx(SAXPY, 8, 1, [8, 1.0, memory[4:], memory[:8]])
    assert memory.tolist() == [2.0] * 8 + [1.0] * 4


def test_memory_that_is_read_only_is_read():
    args = saxpy_args()
    args[2].setflags(write=False)
    hb.run_ptx(SAXPY, 4, 32, args)
    args[3].setflags(write=False)
    with pytest.raises(hb.Trap) as raised:
        hb.run_ptx(SAXPY, 4, 32, args)
    assert raised.value.kind == "read-only"


def test_traps_of_ptx():
    n, a, x, y = saxpy_args()
    with pytest.raises(hb.Trap) as raised:
        hb.run_ptx(SAXPY, 4, 32, [n, a, x[:50], y], file="saxpy.ptx")
    trap = raised.value
    assert (trap.kind, trap.item, trap.block, trap.thread) == ("out-of-bounds-global", 50, (1, 0, 0), (18, 0, 0))
    assert trap.line == 19 and "ld.global.f32" in trap.instruction
    assert "saxpy.ptx:19" in str(trap) and "`x`" in str(trap) and "float32 array of shape (50,)" in str(trap)
    with pytest.raises(hb.Trap) as raised:
        hb.run_ptx(SAXPY, 4, 32, [n, a, 0, y])
    assert raised.value.kind == "out-of-bounds-global"


#: Each thread stores its number in shared memory, and reads that of the next thread.
NEIGHBOUR = HEAD + """.visible .entry neighbour(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 4, %r1;
  st.shared.u32 [%r2], %r0;
  BARRIER
  add.u32 %r3, %r0, 1;
  and.b32 %r3, %r3, 63;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r5;
  ret;
}
"""


def test_shared_memory_and_barriers():
    out = np.zeros(64, np.int32)
    hb.run_ptx(NEIGHBOUR.replace("BARRIER", "bar.sync 0;"), 1, 64, [out], races=True)
    assert out.tolist() == [(i + 1) % 64 for i in range(64)]


def test_a_missing_barrier_is_found():
    out = np.zeros(64, np.int32)
    text = NEIGHBOUR.replace("BARRIER", "")
    with pytest.raises((hb.Race, hb.Trap)) as raised:
        hb.run_ptx(text, 1, 64, [out], races=True, file="neighbour.ptx")
    assert raised.value.kind in ("race-shared", "uninitialised-shared")
    assert "neighbour.ptx" in str(raised.value)
    hb.run_ptx(text, 1, 64, [out])


RACE = HEAD + """.visible .entry race(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  .loc 1 12 3
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x;
  .loc 1 13 5
  st.global.u32 [%d0], %r0;
  ret;
}
.file 1 "race.py"
"""


def test_races_of_ptx():
    with pytest.raises(hb.Race) as raised:
        hb.run_ptx(RACE, 1, 2, [np.zeros(1, np.int32)], races=True)
    race = raised.value
    assert race.kind == "race-global" and race.items == [0, 1] and race.lines == [10, 10]
    assert race.source == ("race.py", 13) and race.sources == [("race.py", 13)] * 2
    hb.run_ptx(RACE, 1, 2, [np.zeros(1, np.int32)])
    hb.run_ptx(RACE, 1, 1, [np.zeros(1, np.int32)], races=True)


def test_stores_of_the_same_value_in_ptx():
    text = RACE.replace("[%d0], %r0", "[%d0], 5").replace("loc 1 13 5", "loc 1 13 5, function_name f, inlined_at 1 12 3")
    out = np.zeros(1, np.int32)
    with pytest.warns(hb.RaceWarning, match="with the same value") as warned:
        hb.run_ptx(text, 1, 2, [out], races=True)
    race = warned[0].message.race
    assert len(warned) == 1 and out.tolist() == [5]
    assert race.kind == "race-global" and race.items == [0, 1] and race.lines == [10, 10]
    assert race.source == ("race.py", 13) and race.inlined_at == [("race.py", 12)]
    assert "line 10 is from race.py:13, inlined at race.py:12" in str(warned[0].message)
    with pytest.raises(hb.Race, match="with the same value") as raised:
        hb.run_ptx(text, 1, 2, [out], races="strict")
    assert raised.value.sources == [("race.py", 13)] * 2
    kernel = hb.parse_ptx(text)["race"]
    for target in ["ptx", "ir", "halu"]:
        with pytest.warns(hb.RaceWarning, match="race.py:13, inlined at race.py:12"):
            kernel(out, grid=1, block=2, target=target, races=True)
        with pytest.raises(hb.Race, match="race.py:13, inlined at race.py:12"):
            kernel(out, grid=1, block=2, target=target, races="strict")


#: A kernel whose blocks wait for each other, and then store the number of blocks that have arrived.
WAITS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry waits(.param .u64 x)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [x]; mov.u32 %r0, %nctaid.x; mov.u32 %r1, %ctaid.x;
  atom.global.add.u32 %r2, [%d0], 1;
again:
  ld.volatile.global.u32 %r3, [%d0]; setp.lt.u32 %p, %r3, %r0; @%p bra again;
  mad.wide.u32 %d1, %r1, 4, %d0; st.global.u32 [%d1+4], %r3;
  ret;
}
"""


def test_cooperative_launches():
    kernel = hb.parse_ptx(WAITS)["waits"]
    for races in (False, True):
        x = np.zeros(5, np.int32)
        kernel(x, grid=4, block=1, cooperative=True, races=races)
        assert (x == 4).all()
        with pytest.raises(hb.Trap, match="--cooperative") as raised:
            kernel(np.zeros(5, np.int32), grid=4, block=1, races=races)
        assert raised.value.kind == "deadlock"
    x = np.zeros(3, np.int32)
    hb.run_ptx(WAITS, 2, 1, [x], cooperative=True)
    assert (x == 2).all()
    kernel(np.zeros(2, np.int32), grid=1, block=1, target="ptx", cooperative=True)
    for target in ("ir", "halu"):
        with pytest.raises(ValueError, match="executed directly"):
            kernel(x, grid=2, block=1, target=target, cooperative=True)
    with pytest.raises(ValueError, match="executed directly"):
        hb.parse("kernel @k(%y: out i32) {\n^entry:\n  ret\n}")["k"](items=1, cooperative=True)
    with pytest.raises(hb.Error, match="of a cooperative launch take"):
        kernel(x, grid=1 << 24, block=16, cooperative=True)


DYNAMIC = NEIGHBOUR.replace("  .shared .align 4 .b8 tile[256];\n", "").replace(".visible", ".extern .shared .align 4 .b8 tile[];\n.visible")


def test_shared_memory_of_the_launch():
    text = DYNAMIC.replace("BARRIER", "bar.sync 0;")
    out = np.zeros(64, np.int32)
    hb.run_ptx(text, 1, 64, [out], shared=256, races=True)
    assert out.tolist() == [(i + 1) % 64 for i in range(64)]
    with pytest.raises(hb.Trap) as raised:
        hb.run_ptx(text, 1, 64, [out], shared=128)
    assert raised.value.kind == "out-of-bounds-shared"


STRUCT = HEAD + """.visible .entry pair(.param .align 8 .b8 of[16], .param .u64 out) {
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [of];
  ld.param.u64 %d1, [of+8];
  ld.param.u64 %d2, [out];
  add.u64 %d0, %d0, %d1;
  st.global.u64 [%d2], %d0;
  ret;
}
"""


@pytest.mark.parametrize("of", [np.array([3, 4], np.uint64), np.array([3, 4], np.uint64).tobytes(), np.array([3, 0, 4, 0], np.int32)])
def test_structures(of):
    out = np.zeros(1, np.uint64)
    hb.run_ptx(STRUCT, 1, 1, [of, out])
    assert out.tolist() == [7]


@pytest.mark.parametrize("of", [b"short", 3, np.zeros(3, np.uint64), None])
def test_structures_of_another_size(of):
    with pytest.raises((TypeError, ValueError), match="`of` of @pair"):
        hb.run_ptx(STRUCT, 1, 1, [of, np.zeros(1, np.uint64)])


HALF = HEAD + """.visible .entry half(.param .b16 a, .param .u64 out) {
  .reg .b16 %h; .reg .b64 %d;
  ld.param.b16 %h, [a];
  ld.param.u64 %d, [out];
  st.global.b16 [%d], %h;
  ret;
}
"""


def test_the_bits_of_a_half():
    out = np.zeros(1, np.float16)
    hb.run_ptx(HALF, 1, 1, [np.float16(1.5), out])
    assert out.tolist() == [1.5]
    hb.run_ptx(HALF, 1, 1, [0x4200, out])
    assert out.tolist() == [3.0]
    with pytest.raises(TypeError):
        hb.run_ptx(HALF, 1, 1, [1.5, out])


LOOP = HEAD + """.visible .entry loop() {
  .reg .b32 %r; .reg .pred %p;
  mov.u32 %r, 0;
again:
  add.u32 %r, %r, 1;
  setp.ne.u32 %p, %r, 0;
  @%p bra again;
  ret;
}
"""


def test_limits_of_ptx():
    with pytest.raises(hb.Budget):
        hb.run_ptx(LOOP, 1, 1, budget=1000)
    with pytest.raises(hb.Budget):
        hb.run_ptx(LOOP, 1, 1, [])
    with pytest.raises(hb.Cancelled):
        hb.run_ptx(LOOP, 1, 1, budget=1 << 40, timeout=0.1)


def test_printf(capsys):
    text = HEAD + """.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[8] = {105, 61, 37, 100, 10, 0};
.visible .entry say() {
  .local .align 8 .b8 depot[8];
  .reg .b32 %r<4>; .reg .b64 %d<6>;
  mov.u32 %r0, %tid.x;
  mov.u64 %d0, depot;
  cvta.local.u64 %d1, %d0;
  st.local.u32 [%d0], %r0;
  mov.u64 %d2, format;
  cvta.global.u64 %d3, %d2;
  { .param .b64 p0; st.param.b64 [p0], %d3; .param .b64 p1; st.param.b64 [p1], %d1; .param .b32 q;
    call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }
  ret;
}
"""
    hb.run_ptx(text, 1, 3, [])
    assert capsys.readouterr().out == "i=0\ni=1\ni=2\n"


def test_heap():
    text = HEAD + """.extern .func (.param .b64 r) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
.visible .entry make(.param .u64 y) {
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [y];
  { .param .b64 size; st.param.b64 [size], 8; .param .b64 block;
    call.uni (block), malloc, (size); ld.param.b64 %d1, [block]; }
  st.u64 [%d1], 42;
  st.global.u64 [%d0], %d1;
  ret;
}
.visible .entry read(.param .u64 y) {
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [y];
  ld.global.u64 %d1, [%d0];
  ld.u64 %d2, [%d1];
  st.global.u64 [%d0+8], %d2;
  ret;
}
.visible .entry drop(.param .u64 y) {
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [y];
  ld.global.u64 %d1, [%d0];
  { .param .b64 p; st.param.b64 [p], %d1; call.uni free, (p); }
  ret;
}
"""
    kernels = hb.parse_ptx(text)
    y = np.zeros(2, np.uint64)
    kernels["make"](y, grid=1, block=1)
    kernels["read"](y, grid=1, block=1)
    assert y[1] == 42
    kernels["drop"](y, grid=1, block=1)
    with pytest.raises(hb.OutOfBounds, match="which was freed"):
        kernels["read"](y, grid=1, block=1)
    with pytest.raises(hb.Trap, match="which was freed earlier"):
        kernels["drop"](y, grid=1, block=1)


@pytest.mark.parametrize("target, engine", [(None, None), ("ptx", None), ("ptx", "interp"), ("ir", None), ("halu", None), ("halu", "interp"), (None, "jit")])
def test_kernels_of_ptx(target, engine):
    kernel = hb.parse_ptx(SAXPY)["saxpy"]
    n, a, x, y = saxpy_args()
    results = kernel(n, a, x, y, grid=(4, 1), block=(32, 1), target=target, engine=engine)
    assert (y == 2 * x + 1).all()
    assert results["y"] is y and "x" not in results
    kernel(grid=4, block=32, shared=0, n=n, a=a, x=x, y=y, target=target, engine=engine)
    assert (y == 4 * x + 1).all()


@pytest.mark.parametrize("target", [None, "ir", "halu"])
def test_kernels_of_ptx_alias(target):
    kernel = hb.parse_ptx(SAXPY)["saxpy"]
    memory = np.arange(8, dtype=np.float32)
    kernel(8, 1.0, memory, memory, grid=1, block=8, target=target)
    assert memory.tolist() == [2.0 * i for i in range(8)]


def test_parameters_of_ptx():
    kernel = hb.parse_ptx(SAXPY)["saxpy"]
    assert [param.name for param in kernel.params] == ["n", "a", "x", "y"]
    assert [param.direction for param in kernel.params] == [None, None, "in", "inout"]
    assert kernel.params[2].type == "f32" and kernel.params[0].type == "u32"
    assert kernel.language == "ptx" and kernel.text == SAXPY


def test_kernels_of_ptx_are_launched_over_blocks():
    with pytest.raises(TypeError, match="give grid= and block="):
        hb.parse_ptx(SAXPY)["saxpy"](*saxpy_args(), items=8)


def test_kernels_of_ptx_are_compiled_and_explained():
    kernel = hb.parse_ptx(SAXPY)["saxpy"]
    assert "FFMA" in kernel.compile("halu").text
    assert "fma.rn.f32" in kernel.compile("ptx").text


def test_a_kernel_that_is_refused_spoils_no_other():
    bad = ".visible .entry bad() {\n  wgmma.fence.sync.aligned;\n  tcgen05.wait::ld.sync.aligned;\n  ret;\n}\n"
    module = hb.parse_ptx(SAXPY + bad)
    assert list(module) == ["saxpy"] and list(module.refused) == ["bad"]
    with pytest.raises(hb.ParseError):
        module["bad"]
    with pytest.raises(hb.ParseError):
        hb.run_ptx(SAXPY + bad, 1, 1, [], entry="bad")
    hb.run_ptx(SAXPY + bad, 4, 32, saxpy_args(), entry="saxpy")


def test_files_of_ptx(tmp_path):
    path = tmp_path / "saxpy.ptx"
    path.write_text(SAXPY)
    module = hb.load(path)
    assert list(module) == ["saxpy"] and module.file == str(path)
    args = saxpy_args()
    module["saxpy"](*args, grid=4, block=32)
    assert args[3][1] == 3
