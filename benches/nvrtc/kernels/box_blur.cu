// Mean of 3 by 3 RGBA pixels. Each thread computes a pixel. Rows are `w` pixels apart.
extern "C" __global__ void box_blur(const uchar4 *__restrict__ pixels, int w, uchar4 *__restrict__ blurred) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = 0, g = 0, b = 0, a = 0;
  for (int y = 0; y < 3; y++) {
    for (int x = 0; x < 3; x++) {
      uchar4 p = pixels[i + y * w + x];
      r += p.x;
      g += p.y;
      b += p.z;
      a += p.w;
    }
  }
  blurred[i] = make_uchar4(r / 9, g / 9, b / 9, a / 9);
}
