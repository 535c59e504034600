// Softmax of rows of 128 numbers, one block for each row: ../softmax_row.hb in CUDA.
extern "C" __global__ void softmax_row(const float *x, float *y) {
  __shared__ float greatest[4];
  __shared__ float sums[4];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float v = x[i];
  float m = v;
  for (unsigned d = 16; d != 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
  if (lane == 0) greatest[warp] = m;
  __syncthreads();
  m = greatest[lane & 3];
  m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
  m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
  float e = exp2f((v - m) * 1.442695f);
  float s = e;
  for (unsigned d = 16; d != 0; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
  if (lane == 0) sums[warp] = s;
  __syncthreads();
  s = sums[lane & 3];
  s += __shfl_xor_sync(0xffffffff, s, 2);
  s += __shfl_xor_sync(0xffffffff, s, 1);
  y[i] = e / s;
}
