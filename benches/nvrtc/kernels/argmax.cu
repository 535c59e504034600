// The class with the highest score of each pixel, the first one if several are equal. Each thread computes four pixels. The scores
// of a class are `stride` words after those of the class before.
const int CLASSES = 6;

extern "C" __global__ void argmax(const unsigned *__restrict__ scores, int stride, unsigned *__restrict__ found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned best = scores[i], at = 0;
  for (int c = 1; c < CLASSES; c++) {
    unsigned v = scores[i + c * stride];
    unsigned is_better = __vcmpgtu4(v, best);
    best = __vmaxu4(best, v);
    at = (at & ~is_better) | (c * 0x01010101u & is_better);
  }
  found[i] = at;
}
