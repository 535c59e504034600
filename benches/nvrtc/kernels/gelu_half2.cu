// GELU of packed halves, computed in f32 by the hyperbolic tangent. Each thread computes two numbers.
#include <cuda_fp16.h>

__device__ float gelu(float x) {
  float t = __tanhf(0.7978846f * fmaf(0.044715f * x * x, x, x));
  return fmaf(0.5f * x, t, 0.5f * x);
}

extern "C" __global__ void gelu_half2(const __half2 *__restrict__ x, __half2 *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = __half22float2(x[i]);
  y[i] = __floats2half2_rn(gelu(v.x), gelu(v.y));
}
