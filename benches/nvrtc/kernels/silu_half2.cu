// SiLU of packed halves, computed in f32: x / (1 + e^-x). Each thread computes two numbers.
#include <cuda_fp16.h>

__device__ float silu(float x) { return x / (1.0f + __expf(-x)); }

extern "C" __global__ void silu_half2(const __half2 *__restrict__ x, __half2 *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = __half22float2(x[i]);
  y[i] = __floats2half2_rn(silu(v.x), silu(v.y));
}
