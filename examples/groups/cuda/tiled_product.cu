// Product of two matrices of halves with sums in f32: ../tiled_product.hb in CUDA.
#include <cuda_fp16.h>

extern "C" __global__ void tiled_product(unsigned n, unsigned inner, const __half *a, const __half *b, __half *c) {
  __shared__ __half left[16][16];
  __shared__ __half right[16][16];
  unsigned u = threadIdx.x, v = threadIdx.y;
  unsigned col = blockIdx.x * 16 + u, row = blockIdx.y * 16 + v;
  float sum = 0.0f;
  for (unsigned t = 0; t < inner; t += 16) {
    left[v][u] = a[row * inner + t + u];
    right[v][u] = b[(t + v) * n + col];
    __syncthreads();
    for (unsigned k = 0; k < 16; k++) sum = fmaf(__half2float(left[v][k]), __half2float(right[k][u]), sum);
    __syncthreads();
  }
  c[row * n + col] = __float2half_rn(sum);
}
