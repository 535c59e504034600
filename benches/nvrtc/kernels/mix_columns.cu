// The step MixColumns of AES: products by 2 and 3 in GF(256). Each thread computes a column of four bytes.
__device__ unsigned char twice(unsigned char x) { return x << 1 ^ (x >> 7) * 0x1b; }

extern "C" __global__ void mix_columns(const uchar4 *__restrict__ columns, uchar4 *__restrict__ mixed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 a = columns[i];
  uchar4 b = make_uchar4(twice(a.x), twice(a.y), twice(a.z), twice(a.w));
  mixed[i] = make_uchar4(b.x ^ b.y ^ a.y ^ a.z ^ a.w, a.x ^ b.y ^ b.z ^ a.z ^ a.w, a.x ^ a.y ^ b.z ^ b.w ^ a.w, b.x ^ a.x ^ a.y ^ a.z ^ b.w);
}
