// Pixels that differ from a background by more than a level, and the new background, an average. Each thread computes four pixels.
extern "C" __global__ void motion_mask(const unsigned *__restrict__ frame, unsigned char level, unsigned *__restrict__ background, unsigned *__restrict__ mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = frame[i], b = background[i];
  mask[i] = __vcmpgtu4(__vabsdiffu4(a, b), level * 0x01010101u);
  background[i] = __vavgu4(a, b);
}
