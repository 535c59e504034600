// Lower-case hexadecimal digits of bytes. Each thread writes the eight digits of four bytes.
__device__ unsigned char digit(int n) { return n < 10 ? '0' + n : 'a' + n - 10; }

extern "C" __global__ void hex_encode(const uchar4 *__restrict__ data, uchar4 *__restrict__ text) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 v = data[i];
  text[2 * i] = make_uchar4(digit(v.x >> 4), digit(v.x & 15), digit(v.y >> 4), digit(v.y & 15));
  text[2 * i + 1] = make_uchar4(digit(v.z >> 4), digit(v.z & 15), digit(v.w >> 4), digit(v.w & 15));
}
