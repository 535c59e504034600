// Median of 3 by 3 RGBA pixels, channel by channel. Each thread computes a pixel. Rows are `w` pixels apart.
__device__ void sort(unsigned &a, unsigned &b) {
  unsigned least = __vminu4(a, b);
  b = __vmaxu4(a, b);
  a = least;
}

__device__ unsigned median(unsigned a, unsigned b, unsigned c) { return __vmaxu4(__vminu4(a, b), __vminu4(__vmaxu4(a, b), c)); }

extern "C" __global__ void median_rgba(const unsigned *__restrict__ pixels, int w, unsigned *__restrict__ medians) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned least[3], middle[3], most[3];
  for (int r = 0; r < 3; r++) {
    unsigned a = pixels[i + r * w], b = pixels[i + r * w + 1], c = pixels[i + r * w + 2];
    sort(a, b);
    sort(b, c);
    sort(a, b);
    least[r] = a;
    middle[r] = b;
    most[r] = c;
  }
  unsigned low = __vmaxu4(__vmaxu4(least[0], least[1]), least[2]);
  unsigned high = __vminu4(__vminu4(most[0], most[1]), most[2]);
  medians[i] = median(low, median(middle[0], middle[1], middle[2]), high);
}
