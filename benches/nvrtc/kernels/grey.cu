// Luma of RGBA pixels. Each thread computes a pixel.
extern "C" __global__ void grey(const uchar4 *__restrict__ rgba, unsigned char *__restrict__ luma) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 p = rgba[i];
  luma[i] = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
}
