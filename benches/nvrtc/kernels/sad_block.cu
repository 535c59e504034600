// Sums of absolute differences of blocks of 8 by 8 pixels. Each thread computes a block. Rows are `w` words apart.
extern "C" __global__ void sad_block(const unsigned *__restrict__ a, const unsigned *__restrict__ b, int w, unsigned *__restrict__ sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (int r = 0; r < 8; r++) {
    int at = 2 * i + r * w;
    sum += __vsadu4(a[at], b[at]);
    sum += __vsadu4(a[at + 1], b[at + 1]);
  }
  sums[i] = sum;
}
