"""Ten Triton kernels, run without a GPU and compared with NumPy, and the detection of a race with its line.

    pip install triton
    python examples/python/triton_kernels.py
"""

import numpy as np
import triton
import triton.language as tl

import halfbyte as hb


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """Computes out = x + y of halves."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def axpy(a, x, y, n, BLOCK: tl.constexpr):
    """Computes y = a * x + y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, a * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    """Computes the sum of each row, with a reduction over warps in shared memory."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def row_argmax(x, out, n, BLOCK: tl.constexpr):
    """Computes the index of the maximum of each row."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.argmax(tl.load(x + row * n + i, mask=i < n, other=-float("inf")), axis=0))


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    """Computes the softmax of each row."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + i, powers / tl.sum(powers, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, out, n, eps, BLOCK: tl.constexpr):
    """Normalises each row to mean 0 and variance 1."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + i, mask=i < n, other=0.0)
    centred = tl.where(i < n, values - tl.sum(values, axis=0) / n, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n
    tl.store(out + row * n + i, centred / tl.sqrt(variance + eps), mask=i < n)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr):
    """Computes c = a @ b, one tile per program, by outer products without tensor-core instructions."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K):
        column = tl.load(a + m * K + k).to(tl.float32)
        row = tl.load(b + k * N + n).to(tl.float32)
        sums += column[:, None] * row[None, :]
    tl.store(c + m[:, None] * N + n[None, :], sums)


@triton.jit
def transpose(x, out, M, N, BLOCK: tl.constexpr):
    """Transposes a matrix, one square tile per program."""
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(tile))


@triton.jit
def running_sum(x, out, n, BLOCK: tl.constexpr):
    """Computes the prefix sum of each row, with a scan over warps."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * n + i, tl.cumsum(tl.load(x + row * n + i, mask=i < n, other=0.0), axis=0), mask=i < n)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    """Computes a histogram with atomic additions."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.atomic_add(bins + tl.load(x + i, mask=inside, other=0), 1, mask=inside)


@triton.jit
def halve(x, out, n, BLOCK: tl.constexpr):
    """Has a bug: two neighbours store to the same address."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + i // 2, values, mask=i < n)  # the race


def random(*shape, dtype=np.float32):
    return np.random.default_rng(1).integers(-8, 9, shape).astype(dtype)


def run_add():
    x, y, out = random(1000, dtype=np.float16), random(1000, dtype=np.float16), np.zeros(1000, np.float16)
    hb.triton(add, races=True)[(8,)](x, y, out, 1000, BLOCK=128)
    assert (out == x + y).all()


def run_axpy():
    x, y = random(1000), random(1000)
    expected = 2.5 * x + y
    hb.triton(axpy)[(4,)](2.5, x, y, 1000, BLOCK=256)
    assert (y == expected).all()


def run_row_sum():
    x, out = random(4, 200), np.zeros(4, np.float32)
    hb.triton(row_sum)[(4,)](x, out, 200, BLOCK=256)
    assert (out == x.sum(1)).all()


def run_row_argmax():
    x, out = np.random.default_rng(2).random((4, 200)).astype(np.float32), np.zeros(4, np.int32)
    hb.triton(row_argmax)[(4,)](x, out, 200, BLOCK=256)
    assert (out == x.argmax(1)).all()


def run_softmax():
    x, out = random(4, 100), np.zeros((4, 100), np.float32)
    hb.triton(softmax)[(4,)](x, out, 100, BLOCK=128)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)


def run_layer_norm():
    x, out = random(4, 100), np.zeros((4, 100), np.float32)
    hb.triton(layer_norm)[(4,)](x, out, 100, 1e-5, BLOCK=128)
    centred = x - x.mean(1, keepdims=True)
    np.testing.assert_allclose(out, centred / np.sqrt(x.var(1, keepdims=True) + 1e-5), rtol=1e-4, atol=1e-5)


def run_product():
    a, b, c = random(32, 24, dtype=np.float16), random(24, 64, dtype=np.float16), np.zeros((32, 64), np.float32)
    hb.triton(product)[(2, 2)](a, b, c, 32, 64, 24, BM=16, BN=32)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def run_transpose():
    x, out = random(32, 64), np.zeros((64, 32), np.float32)
    hb.triton(transpose)[(2, 4)](x, out, 32, 64, BLOCK=16)
    assert (out == x.T).all()


def run_running_sum():
    x, out = random(3, 100), np.zeros((3, 100), np.float32)
    hb.triton(running_sum)[(3,)](x, out, 100, BLOCK=128)
    assert (out == np.cumsum(x, axis=1)).all()


def run_histogram():
    x, bins = np.random.default_rng(3).integers(0, 16, 1000).astype(np.int32), np.zeros(16, np.int32)
    hb.triton(histogram)[(8,)](x, bins, 1000, BLOCK=128)
    assert (bins == np.bincount(x, minlength=16)).all()


def find_the_race():
    x, out = np.arange(256, dtype=np.int32), np.zeros(128, np.int32)
    try:
        hb.triton(halve, races=True)[(2,)](x, out, 256, BLOCK=128)
    except hb.Race as race:
        file, line = race.source
        with open(__file__) as text:
            assert "# the race" in text.read().splitlines()[line - 1], (file, line)
        return race
    raise AssertionError("the race is not found")


RUNS = [run for name, run in list(globals().items()) if name.startswith("run_")]

if __name__ == "__main__":
    for run in RUNS:
        run()
        print("ok ", run.__name__[4:])
    print(find_the_race())
