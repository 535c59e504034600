// Prediction at a half-pixel position, to the right and down: rounded averages of averages. Each thread computes four pixels. Rows are
// `w` words apart.
extern "C" __global__ void half_pel(const unsigned *__restrict__ frame, int w, unsigned *__restrict__ predicted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = frame[i], b = frame[i + 1], c = frame[i + w], d = frame[i + w + 1];
  unsigned upper = __vavgu4(a, __byte_perm(a, b, 0x4321));
  unsigned lower = __vavgu4(c, __byte_perm(c, d, 0x4321));
  predicted[i] = __vavgu4(upper, lower);
}
