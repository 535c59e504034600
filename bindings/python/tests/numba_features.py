"""Features of Numba on the driver library, one test each. `test_numba.py` runs this file in a process of its own."""

import math
import os
import pathlib
import threading

import numpy as np
import pytest
from numba import complex64, cuda, float32, float64, guvectorize, int32, types, vectorize, void
from numba.cuda import cg
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64, xoroshiro128p_uniform_float32


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 1


def test_host_arrays():
    x = np.arange(100, dtype=np.float32)
    add_one[4, 32](x)
    assert (x == np.arange(100) + 1).all()


def test_device_arrays():
    x = cuda.to_device(np.arange(100, dtype=np.int64))
    y = cuda.device_array(100, np.int64)
    y.copy_to_device(x)
    add_one[4, 32](y)
    assert (y.copy_to_host() == np.arange(100) + 1).all()
    assert (y[10:20].copy_to_host() == np.arange(11, 21)).all()
    like = cuda.device_array_like(y)
    like[:] = 7
    assert (like.copy_to_host() == 7).all()


def test_device_properties():
    device = cuda.get_current_device()
    assert device.compute_capability == (8, 0) and "halfbyte" in str(device.name)
    assert cuda.is_available() and len(cuda.gpus) == 1
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    assert add_one[4, 32] is not None


def test_streams_and_events():
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event()
    with cuda.pinned(host := np.zeros(64, np.float64)):
        with stream.auto_synchronize():
            start.record(stream)
            x = cuda.to_device(host, stream=stream)
            add_one[2, 32, stream](x)
            x.copy_to_host(host, stream=stream)
            end.record(stream)
    end.synchronize()
    assert (host == 1).all() and cuda.event_elapsed_time(start, end) >= 0


def test_eager_signature():
    @cuda.jit(void(float32[::1], float32))
    def scale(x, a):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= a

    x = np.arange(33, dtype=np.float32)
    scale[2, 32](x, 3)
    assert (x == np.arange(33) * 3).all()


def test_several_signatures_and_specialisation():
    @cuda.jit
    def twice(x):
        x[cuda.grid(1)] *= 2

    for dtype in (np.int8, np.uint16, np.int32, np.float16, np.float64):
        x = np.arange(32).astype(dtype)
        twice[1, 32](x)
        assert (x == np.arange(32) * 2).all(), dtype
    assert len(twice.overloads) == 5
    compiled = twice.specialize(np.zeros(3, np.float32))
    assert compiled.get_regs_per_thread() > 0


def test_vectorize():
    @vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
    def hypotenuse(a, b):
        return math.sqrt(a * a + b * b)

    for dtype in (np.float32, np.float64):
        a, b = np.arange(1000, dtype=dtype), np.arange(1000, dtype=dtype)[::-1].copy()
        assert np.allclose(hypotenuse(a, b), np.hypot(a, b))
    assert hypotenuse.reduce(np.float64([3, 4])) == 5


def test_guvectorize():
    @guvectorize([void(float64[:, :], float64[:, :], float64[:, :])], "(m,n),(n,p)->(m,p)", target="cuda")
    def multiply(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    a, b = np.random.default_rng(1).random((2, 5, 3, 4))[0], np.random.default_rng(2).random((5, 4, 2))
    assert np.allclose(multiply(a, b), a @ b)


def test_device_functions():
    @cuda.jit(device=True)
    def smallest(a, b):
        return a if a < b else b

    @cuda.jit("float64(float64)", device=True, inline="always")
    def cube(a):
        return a * a * a

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = smallest(cube(x[i]), 5.0)

    x, y = np.linspace(0, 3, 32), np.zeros(32)
    kernel[1, 32](x, y)
    assert np.allclose(y, np.minimum(x**3, 5))


def test_records():
    point = np.dtype([("x", np.float32), ("n", np.int32), ("v", np.float64, (2,))], align=True)

    @cuda.jit
    def kernel(points, one):
        i = cuda.grid(1)
        points[i].n += i + one.n
        points[i]["x"] = points[i].v[1] + one.v[0]

    points, one = np.zeros(32, point), np.zeros(1, point)[0]
    points["v"] = np.arange(64).reshape(32, 2)
    one["n"], one["v"] = 7, (0.5, 0)
    kernel[1, 32](points, one)
    assert (points["n"] == np.arange(32) + 7).all() and (points["x"] == np.arange(32) * 2 + 1.5).all()


def test_complex_numbers():
    @cuda.jit
    def kernel(z, c):
        i = cuda.grid(1)
        z[i] = z[i] * z[i] + c

    for dtype in (np.complex64, np.complex128):
        z = (np.arange(32) + 1j).astype(dtype)
        kernel[1, 32](z, dtype(2 - 3j))
        assert np.allclose(z, (np.arange(32) + 1j) ** 2 + 2 - 3j)


def test_tuples():
    @cuda.jit
    def kernel(arrays, numbers, out):
        i = cuda.grid(1)
        out[i] = arrays[0][i] * numbers[0] + arrays[1][i] * numbers[1]

    out = np.zeros(32)
    kernel[1, 32]((np.arange(32.0), np.ones(32)), (2, 0.5), out)
    assert (out == np.arange(32) * 2 + 0.5).all()


def test_strides():
    @cuda.jit
    def kernel(x, y):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] = x[i, j] + 1

    x = np.arange(8 * 12, dtype=np.float32).reshape(8, 12)
    for view in (x.T, np.asfortranarray(x)):
        y = np.zeros(view.shape, np.float32)
        kernel[(2, 2), (8, 8)](view, y)
        assert (y == view + 1).all(), view.strides
    on_device = cuda.to_device(x)
    for part in (np.s_[:], np.s_[::2], np.s_[:, 1::3], np.s_[1:5, 2:9]):
        y = np.zeros(x[part].T.shape, np.float32)
        kernel[(2, 2), (8, 8)](on_device[part].T, y)
        assert (y == x[part].T + 1).all(), part


def test_negative_strides():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        reversed_x = x[::-1]
        y[i] = reversed_x[i] + reversed_x[::-2][0]

    x, y = cuda.to_device(np.arange(32.0)), np.zeros(32)
    kernel[1, 32](x, y)
    assert (y == np.arange(32)[::-1]).all()


def test_float16():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = cuda.fp16.hfma(x[i], y[i], x[i])
        if cuda.fp16.hgt(x[i], y[i]):
            out[i] = cuda.fp16.hsqrt(cuda.fp16.habs(x[i])) - y[i] / x[i]

    x, y = np.arange(1, 33).astype(np.float16), np.full(32, 8, np.float16)
    out = np.zeros(32, np.float16)
    kernel[1, 32](x, y, out)
    wanted = np.where(x > y, np.sqrt(x) - y / x, x * y + x)
    assert np.allclose(out, wanted, atol=2e-3)


def test_cooperative_groups():
    @cuda.jit
    def kernel(x, sums):
        grid = cg.this_grid()
        i = cuda.grid(1)
        cuda.atomic.add(sums, 0, x[i])
        grid.sync()
        x[i] = sums[0]

    x, sums = np.arange(128, dtype=np.int32), np.zeros(1, np.int32)
    kernel[4, 32](x, sums)
    assert (x == 127 * 64).all()


def test_random_numbers():
    @cuda.jit
    def kernel(states, uniform, normal):
        i = cuda.grid(1)
        uniform[i] = xoroshiro128p_uniform_float32(states, i)
        normal[i] = xoroshiro128p_normal_float64(states, i)

    states = create_xoroshiro128p_states(512, seed=1)
    uniform, normal = np.zeros(512, np.float32), np.zeros(512)
    kernel[16, 32](states, uniform, normal)
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.1
    assert abs(normal.mean()) < 0.3 and abs(normal.std() - 1) < 0.2 and len(set(normal)) == 512


def test_atomics():
    @cuda.jit
    def kernel(x, counts, least, most, bits, first):
        i = cuda.grid(1)
        cuda.atomic.add(counts, x[i] % 4, 1)
        cuda.atomic.min(least, 0, x[i])
        cuda.atomic.max(most, 0, float64(x[i]))
        cuda.atomic.or_(bits, 0, 1 << (x[i] % 4))
        cuda.atomic.cas(first, 0, -1, x[i])
        cuda.atomic.exch(first, 1, 5)

    x = np.arange(3, 131, dtype=np.int32)
    counts, least, most = np.zeros(4, np.float64), np.full(1, 999, np.int32), np.zeros(1)
    bits, first = np.zeros(1, np.uint32), np.full(2, -1, np.int32)
    kernel[4, 32](x, counts, least, most, bits, first)
    assert (counts == 32).all() and least[0] == 3 and most[0] == 130 and bits[0] == 15
    assert first[0] in x and first[1] == 5


def test_shared_memory():
    @cuda.jit
    def reverse(x):
        tile = cuda.shared.array(32, int32)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        x[i] = tile[31 - i]

    @cuda.jit
    def sums(x, out):
        tile = cuda.shared.array(0, int32)
        i = cuda.threadIdx.x
        tile[i] = x[cuda.grid(1)]
        cuda.syncthreads()
        if i == 0:
            total = 0
            for k in range(cuda.blockDim.x):
                total += tile[k]
            out[cuda.blockIdx.x] = total

    x = np.arange(32, dtype=np.int32)
    reverse[1, 32](x)
    assert (x == np.arange(32)[::-1]).all()
    x, out = np.arange(128, dtype=np.int32), np.zeros(2, np.int32)
    sums[2, 64, 0, 64 * 4](x, out)
    assert (out == x.reshape(2, 64).sum(axis=1)).all()


def test_local_and_constant_memory():
    table = np.array([3, 1, 4, 1], np.float32)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        constant = cuda.const.array_like(table)
        held = cuda.local.array(4, float32)
        for k in range(4):
            held[k] = constant[k] * i
        x[i] = held[i % 4]

    x = np.zeros(32, np.float32)
    kernel[1, 32](x)
    assert (x == table[np.arange(32) % 4] * np.arange(32)).all()


@pytest.mark.parametrize("make", [cuda.managed_array, cuda.mapped_array, cuda.pinned_array])
def test_memory_of_the_host(make):
    x = make(64, dtype=np.float32)
    x[:] = 2
    add_one[2, 32](x)
    cuda.synchronize()
    assert (np.asarray(x) == 3).all()


def test_mapped_context():
    x = np.zeros(64, np.float32)
    with cuda.mapped(x) as on_device:
        add_one[2, 32](on_device)
        cuda.synchronize()
    assert (x == 1).all()


def test_warps():
    @cuda.jit
    def kernel(x, votes):
        i = cuda.threadIdx.x
        total = x[i]
        for step in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        votes[i] = cuda.ballot_sync(0xFFFFFFFF, x[i] % 2 == 0)
        cuda.syncwarp()
        if i == 0:
            x[0] = total

    x, votes = np.arange(32, dtype=np.int32), np.zeros(32, np.uint32)
    kernel[1, 32](x, votes)
    assert x[0] == 496 and (votes == 0x55555555).all()


def test_mathematics():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = math.sin(x[i]) * math.exp(-x[i]) + math.pow(x[i], 1.5) + math.atan2(x[i], 2.0) + math.erf(x[i])

    x, y = np.linspace(0.1, 3, 64), np.zeros(64)
    kernel[2, 32](x, y)
    wanted = np.sin(x) * np.exp(-x) + x**1.5 + np.arctan2(x, 2) + [math.erf(v) for v in x]
    assert np.allclose(y, wanted, rtol=1e-12)


def test_print(capfd):
    @cuda.jit
    def kernel(x):
        if cuda.grid(1) < 2:
            print("value", cuda.grid(1), x[cuda.grid(1)])

    kernel[1, 32](np.full(32, 1.5))
    cuda.synchronize()
    assert capfd.readouterr().out == "value 0 1.500000\nvalue 1 1.500000\n"


def test_reduction():
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000, dtype=np.float64)) == 499500


def test_nested_tuples_and_booleans():
    @cuda.jit
    def kernel(x, nested, flag):
        i = cuda.grid(1)
        if flag:
            x[i] = nested[0] + nested[1][0] + nested[1][1]

    x = np.zeros(32)
    kernel[1, 32](x, (1, (2.5, np.float32(3))), True)
    assert (x == 6.5).all()


def test_complex_scalar_signature():
    @cuda.jit(void(complex64[:], complex64))
    def kernel(z, c):
        z[cuda.grid(1)] += c

    z = np.zeros(32, np.complex64)
    kernel[1, 32](z, 1 + 2j)
    assert (z == 1 + 2j).all()


def test_ptx_has_the_lines_of_functions():
    ptx = add_one.inspect_asm()
    if not ptx:
        add_one[1, 32](np.zeros(32, np.float32))
        ptx = add_one.inspect_asm()
    assert all(".loc" in text and "numba_features.py" in text for text in ptx.values())


def test_debug_mode():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        x[cuda.grid(1)] = 5

    x = np.zeros(32, np.int32)
    kernel[1, 32](x)
    assert (x == 5).all()


def test_cache(tmp_path):
    assert pathlib.Path(os.environ["NUMBA_CACHE_DIR"]).is_dir()
    source = tmp_path / "cached.py"
    source.write_text("from numba import cuda\n\n@cuda.jit(cache=True)\ndef fill(x):\n    x[cuda.grid(1)] = 9\n")
    for _ in range(2):
        names = {}
        exec(compile(source.read_text(), str(source), "exec"), names)
        x = np.zeros(32)
        names["fill"][1, 32](x)
        assert (x == 9).all()
    assert sum(names["fill"].stats.cache_hits.values()) == 1
    assert not list(tmp_path.glob("**/*.nb*"))


def test_threads():
    results = []

    def launch():
        x = np.zeros(64, np.float32)
        add_one[2, 32](x)
        results.append(x.sum())

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [64] * 4


def test_compilation_without_a_launch():
    def twice(x):
        return x * float32(2)

    ptx, returned = cuda.compile_ptx(twice, (types.float32,), device=True)
    assert "add" in ptx or "mul" in ptx
    assert returned == types.float32


def test_a_function_without_source(recwarn):
    cuda.jit(eval("lambda x: None"))[1, 1](np.zeros(1))
    assert not [warning for warning in recwarn if "source" in str(warning.message)]
