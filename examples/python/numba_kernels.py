"""Ten Numba CUDA kernels, run without a GPU and compared with NumPy, and the detection of a missing barrier.

    pip install "numba-cuda[cu13]"
    python examples/python/numba_kernels.py
"""

import numpy as np
from numba import cuda, float32, int32

import halfbyte as hb

BLOCK = 64
WITH_EDGES = BLOCK + 2
TILE = 8
PADDED = TILE + 1


def add(x, y, out):
    """Computes out = x + y."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def block_sum(x, out):
    """Computes the sum of each block, by a tree reduction in shared memory."""
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def block_sum_without_barrier(x, out):
    """Has a bug: a step reads elements that the previous step may not have written yet."""
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]  # no barrier after it
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def warp_sum(x, out):
    """Computes the sum of each warp with shuffles."""
    value = x[cuda.grid(1)]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[cuda.grid(1) // 32] = value


def product(a, b, c):
    """Computes c = a @ b with tiles in shared memory."""
    of_a = cuda.shared.array((TILE, TILE), float32)
    of_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // TILE):
        of_a[ty, tx] = a[y, k * TILE + tx]
        of_b[ty, tx] = b[k * TILE + ty, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += of_a[ty, j] * of_b[j, tx]
        cuda.syncthreads()
    c[y, x] = total


def transpose(x, out):
    """Transposes a matrix with tiles that are padded against bank conflicts."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    out[cuda.blockIdx.x * TILE + cuda.threadIdx.y, cuda.blockIdx.y * TILE + cuda.threadIdx.x] = tile[
        cuda.threadIdx.x, cuda.threadIdx.y
    ]


def histogram(x, bins):
    """Computes a histogram: per block in shared memory, then added to the result."""
    local = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        local[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(local, x[i], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(bins, t, local[t])


def running_sum(x, out):
    """Computes the inclusive prefix sum of each block."""
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        before = tile[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        tile[t] += before
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = tile[t]


def stencil(x, out):
    """Computes the mean of each element and its neighbours, loaded once into shared memory."""
    tile = cuda.shared.array(WITH_EDGES, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else x[i]
    if t == BLOCK - 1:
        tile[BLOCK + 1] = x[i + 1] if i + 1 < x.size else x[i]
    cuda.syncthreads()
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / float32(3)


def sort(x):
    """Sorts each block with a bitonic network."""
    tile = cuda.shared.array(BLOCK, int32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    size = 2
    while size <= BLOCK:
        step = size // 2
        while step > 0:
            other = t ^ step
            if other > t:
                up = (t & size) == 0
                if (tile[t] > tile[other]) == up:
                    tile[t], tile[other] = tile[other], tile[t]
            cuda.syncthreads()
            step //= 2
        size *= 2
    x[cuda.grid(1)] = tile[t]


def life(before, after):
    """Computes a step of Conway's game of life on a torus."""
    x, y = cuda.grid(2)
    height, width = before.shape
    if x < width and y < height:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    alive += before[(y + dy) % height, (x + dx) % width]
        after[y, x] = 1 if alive == 3 or (alive == 2 and before[y, x] == 1) else 0


VECTOR = "float32[::1]"
MATRIX = "float32[:, ::1]"


def random(*shape, dtype=np.float32):
    return np.random.default_rng(1).integers(-8, 9, shape).astype(dtype)


def run_add():
    x, y, out = random(1000), random(1000), np.zeros(1000, np.float32)
    hb.numba(add, f"void({VECTOR}, {VECTOR}, {VECTOR})")[8, 128](x, y, out)
    assert (out == x + y).all()


def run_block_sum():
    x, out = random(4 * BLOCK), np.zeros(4, np.float32)
    hb.numba(block_sum, f"void({VECTOR}, {VECTOR})", races=True)[4, BLOCK](x, out)
    assert (out == x.reshape(4, BLOCK).sum(1)).all()


def run_warp_sum():
    x, out = random(256), np.zeros(8, np.float32)
    hb.numba(warp_sum, f"void({VECTOR}, {VECTOR})")[4, 64](x, out)
    assert (out == x.reshape(8, 32).sum(1)).all()


def run_product():
    a, b, c = random(16, 24), random(24, 32), np.zeros((16, 32), np.float32)
    hb.numba(product, f"void({MATRIX}, {MATRIX}, {MATRIX})", races=True)[(4, 2), (TILE, TILE)](a, b, c)
    assert (c == a @ b).all()


def run_transpose():
    x, out = random(16, 24), np.zeros((24, 16), np.float32)
    hb.numba(transpose, f"void({MATRIX}, {MATRIX})", races=True)[(3, 2), (TILE, TILE)](x, out)
    assert (out == x.T).all()


def run_histogram():
    x, bins = np.random.default_rng(3).integers(0, 16, 1000).astype(np.int32), np.zeros(16, np.int32)
    hb.numba(histogram, "void(int32[::1], int32[::1])", races=True)[16, 64](x, bins)
    assert (bins == np.bincount(x, minlength=16)).all()


def run_running_sum():
    x, out = random(2 * BLOCK), np.zeros(2 * BLOCK, np.float32)
    hb.numba(running_sum, f"void({VECTOR}, {VECTOR})", races=True)[2, BLOCK](x, out)
    assert (out.reshape(2, BLOCK) == np.cumsum(x.reshape(2, BLOCK), axis=1)).all()


def run_stencil():
    x, out = random(2 * BLOCK), np.zeros(2 * BLOCK, np.float32)
    hb.numba(stencil, f"void({VECTOR}, {VECTOR})", races=True)[2, BLOCK](x, out)
    around = np.pad(x, 1, mode="edge")
    np.testing.assert_allclose(out, (around[:-2] + around[1:-1] + around[2:]) / 3, rtol=1e-6)


def run_sort():
    x = np.random.default_rng(4).integers(-99, 99, 2 * BLOCK).astype(np.int32)
    expected = np.sort(x.reshape(2, BLOCK), axis=1).reshape(-1)
    hb.numba(sort, "void(int32[::1])", races=True)[2, BLOCK](x)
    assert (x == expected).all()


def run_life():
    before = np.random.default_rng(5).integers(0, 2, (20, 24)).astype(np.int32)
    after = np.zeros_like(before)
    hb.numba(life, "void(int32[:, ::1], int32[:, ::1])")[(3, 3), (8, 8)](before, after)
    around = sum(np.roll(before, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - before
    assert (after == ((around == 3) | (before == 1) & (around == 2))).all()


def find_the_missing_barrier():
    x, out = random(BLOCK), np.zeros(1, np.float32)
    try:
        hb.numba(block_sum_without_barrier, f"void({VECTOR}, {VECTOR})", races=True)[1, BLOCK](x, out)
    except hb.Race as race:
        file, line = race.source
        with open(__file__) as text:
            assert "# no barrier after it" in text.read().splitlines()[line - 1], (file, line)
        return race
    raise AssertionError("the missing barrier is not found")


RUNS = [run for name, run in list(globals().items()) if name.startswith("run_")]

if __name__ == "__main__":
    for run in RUNS:
        run()
        print("ok ", run.__name__[4:])
    print(find_the_missing_barrier())
