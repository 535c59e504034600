"""Kernel with barriers of the whole grid. numba.ptx is what numba-cuda makes of `sums` with

cuda.compile(sums, "void(int32[::1], int32[::1], int32[::1])", cc=(7, 5), device=False, abi="numba", output="ptx")
"""

from numba import cuda, int32


def sums(x, partial, out):
    """Computes the sum of x from one partial sum per block, as the kernel of the same name in nvrtc.cu does."""
    grid = cuda.cg.this_grid()
    tile = cuda.shared.array(256, int32)
    t, block, blocks = cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    total = int32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    tile[t] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partial[block] = tile[0]
    grid.sync()
    total = int32(0)
    for i in range(blocks):
        total += partial[i]
    grid.sync()
    if t == 0:
        partial[block] = total + block
    grid.sync()
    out[cuda.grid(1)] = partial[(block + 1) % blocks] + t
