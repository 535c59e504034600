// Rotary position embedding of packed halves: complex products with cosine and sine. Each thread rotates a pair.
#include <cuda_fp16.h>

extern "C" __global__ void rotary_half2(const __half2 *__restrict__ x, const __half2 *__restrict__ rotations, int mask, __half2 *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 v = x[i], r = rotations[i & mask];
  __half2 cosine = __low2half2(r);
  __half2 sine = __halves2half2(__hneg(__high2half(r)), __high2half(r));
  y[i] = __hfma2(__lowhigh2highlow(v), sine, __hmul2(v, cosine));
}
