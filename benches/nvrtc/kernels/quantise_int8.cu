// Quantisation of activations: x / scale, rounded to the nearest integer from -127 to 127. Each thread computes four numbers.
__device__ signed char quantised(float x, float inverse) { return __float2int_rn(fminf(fmaxf(x * inverse, -127.0f), 127.0f)); }

extern "C" __global__ void quantise_int8(const float4 *__restrict__ x, float inverse, char4 *__restrict__ q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = x[i];
  q[i] = make_char4(quantised(v.x, inverse), quantised(v.y, inverse), quantised(v.z, inverse), quantised(v.w, inverse));
}
