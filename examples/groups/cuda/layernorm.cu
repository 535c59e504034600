// Layer normalisation, one block for each row of halves: ../layernorm.hb in CUDA.
#include <cuda_fp16.h>

// Sum over the block, in every thread.
static __device__ float block_sum(float v, float *parts) {
  unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (unsigned d = 16; d != 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
  if (lane == 0) parts[warp] = v;
  __syncthreads();
  v = lane < blockDim.x >> 5 ? parts[lane] : 0.0f;
  for (unsigned d = 16; d != 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

extern "C" __global__ void layernorm(unsigned n, float epsilon, const __half *x, const __half *gamma, const __half *beta,
                                     __half *y) {
  __shared__ float sums[32];
  __shared__ float squares[32];
  unsigned start = blockIdx.x * n;
  float sum = 0.0f;
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) sum += __half2float(x[start + k]);
  float mean = block_sum(sum, sums) / (float)n;
  float square = 0.0f;
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) {
    float away = __half2float(x[start + k]) - mean;
    square = fmaf(away, away, square);
  }
  float inverse = rsqrtf(block_sum(square, squares) / (float)n + epsilon);
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) {
    float normal = (__half2float(x[start + k]) - mean) * inverse;
    y[start + k] = __float2half_rn(fmaf(normal, __half2float(gamma[k]), __half2float(beta[k])));
  }
}
