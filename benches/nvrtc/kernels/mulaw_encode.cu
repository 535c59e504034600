// Samples of 16 bits to mu-law (G.711). Each thread encodes four samples.
__device__ unsigned char encoded(int x) {
  int sign = x < 0 ? 0x80 : 0;
  int size = min(abs(x), 32635) + 132;
  int exponent = 24 - __clz(size);
  int mantissa = size >> (exponent + 3) & 15;
  return ~(sign | exponent << 4 | mantissa);
}

extern "C" __global__ void mulaw_encode(const short4 *__restrict__ samples, uchar4 *__restrict__ codes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  short4 v = samples[i];
  codes[i] = make_uchar4(encoded(v.x), encoded(v.y), encoded(v.z), encoded(v.w));
}
