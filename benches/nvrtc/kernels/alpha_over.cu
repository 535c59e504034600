// A picture with premultiplied alpha over another one: s + d (255 - alpha of s) / 255. Each thread computes a pixel.
__device__ unsigned char faded(int d, int k) {
  int v = d * k + 128;
  return (v + (v >> 8)) >> 8;
}

extern "C" __global__ void alpha_over(const uchar4 *__restrict__ above, const uchar4 *__restrict__ below, uchar4 *__restrict__ result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 s = above[i], d = below[i];
  int k = 255 - s.w;
  result[i] = make_uchar4(s.x + faded(d.x, k), s.y + faded(d.y, k), s.z + faded(d.z, k), s.w + faded(d.w, k));
}
