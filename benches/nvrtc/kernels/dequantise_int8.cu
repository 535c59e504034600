// int8 weights to halves, with one scale. Each thread converts four weights.
#include <cuda_fp16.h>

extern "C" __global__ void dequantise_int8(const char4 *__restrict__ weights, __half scale, __half2 *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  char4 w = weights[i];
  __half2 s = __half2half2(scale);
  y[2 * i] = __hmul2(__halves2half2(__short2half_rn(w.x), __short2half_rn(w.y)), s);
  y[2 * i + 1] = __hmul2(__halves2half2(__short2half_rn(w.z), __short2half_rn(w.w)), s);
}
