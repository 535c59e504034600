// Median of five frames with samples of 16 bits. Each thread computes two samples.
__device__ void sort(unsigned &a, unsigned &b) {
  unsigned least = __vmins2(a, b);
  b = __vmaxs2(a, b);
  a = least;
}

extern "C" __global__ void temporal_median(const unsigned *__restrict__ frames, int size, unsigned *__restrict__ medians) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = frames[i], b = frames[i + size], c = frames[i + 2 * size], d = frames[i + 3 * size], e = frames[i + 4 * size];
  sort(a, b);
  sort(c, d);
  c = __vmaxs2(a, c);
  b = __vmins2(b, d);
  sort(b, e);
  c = __vmaxs2(b, c);
  medians[i] = __vmins2(c, e);
}
