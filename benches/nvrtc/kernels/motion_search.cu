// Search for a block of 4 by 4 pixels in `words` words to the right: the least sum of absolute differences and its place. Each thread
// searches for a block. Rows are `w` words apart.
extern "C" __global__ void motion_search(const unsigned *__restrict__ frame, const unsigned *__restrict__ before, int w, int words, unsigned *__restrict__ least, int *__restrict__ place) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned best = 0xffffffff;
  int found = 0;
#pragma unroll 1
  for (int x = 0; x < words; x++) {
    unsigned sums[4] = {0, 0, 0, 0};
    for (int r = 0; r < 4; r++) {
      unsigned block = frame[i + r * w], a = before[i + x + r * w], b = before[i + x + r * w + 1];
      for (int k = 0; k < 4; k++) sums[k] += __vsadu4(block, __funnelshift_r(a, b, 8 * k));
    }
    for (int k = 0; k < 4; k++) {
      if (sums[k] < best) {
        best = sums[k];
        found = 4 * x + k;
      }
    }
  }
  least[i] = best;
  place[i] = found;
}
