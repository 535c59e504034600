// Dilation of a grey picture: the maximum of 3 by 3 pixels. Each thread computes four pixels. Rows are `w` words apart.
__device__ unsigned widest(const unsigned *__restrict__ row) {
  unsigned before = row[0], at = row[1], after = row[2];
  return __vmaxu4(__vmaxu4(__byte_perm(before, at, 0x6543), at), __byte_perm(at, after, 0x4321));
}

extern "C" __global__ void dilate(const unsigned *__restrict__ grey, int w, unsigned *__restrict__ dilated) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dilated[i] = __vmaxu4(__vmaxu4(widest(grey + i), widest(grey + i + w)), widest(grey + i + 2 * w));
}
