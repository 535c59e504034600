// Prefix sums of a buffer in two launches: ../prefix_sum.hb in CUDA.
extern "C" __global__ void block_sums(unsigned n, const int *x, int *sums) {
  __shared__ int parts[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = i < n ? x[i] : 0;
  int part = __reduce_add_sync(0xffffffff, v);
  if (lane == 0) parts[warp] = part;
  __syncthreads();
  if (warp == 0) {
    int q = lane < blockDim.x >> 5 ? parts[lane] : 0;
    int sum = __reduce_add_sync(0xffffffff, q);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void prefix_sum(unsigned n, const int *x, const int *sums, int *y) {
  __shared__ int ends[32];
  __shared__ int bases[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int base = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += blockDim.x) base += sums[b];
  int part = __reduce_add_sync(0xffffffff, base);
  int v = i < n ? x[i] : 0;
  for (unsigned d = 1; d < 32; d <<= 1) {
    int lower = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += lower;
  }
  if (lane == 31) {
    ends[warp] = v;
    bases[warp] = part;
  }
  __syncthreads();
  int t = 0;
  if (lane < blockDim.x >> 5) {
    t = bases[lane];
    if (lane < warp) t += ends[lane];
  }
  int total = __reduce_add_sync(0xffffffff, t);
  if (i < n) y[i] = total + v;
}
