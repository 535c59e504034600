// Conversion to bfloat16 by integers, rounded to nearest even; the numbers are no NaNs. Each thread converts two numbers.
__device__ unsigned rounded(float x) {
  unsigned u = __float_as_uint(x);
  return u + 0x7fff + ((u >> 16) & 1);
}

extern "C" __global__ void float_to_bfloat16(const float2 *__restrict__ x, unsigned *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = x[i];
  y[i] = rounded(v.x) >> 16 | (rounded(v.y) & 0xffff0000);
}
