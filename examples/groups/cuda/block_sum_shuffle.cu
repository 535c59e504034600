// Sum of the elements of each block by shuffles: ../block_sum_shuffle.hb in CUDA.
extern "C" __global__ void block_sum(const int *x, int *y) {
  __shared__ int sums[32];
  unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned d = 16; d != 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if (lane == 0) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x >> 5 ? sums[lane] : 0;
    for (unsigned d = 16; d != 0; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
    if (lane == 0) y[blockIdx.x] = s;
  }
}
