// A row of NV12 to RGBA (BT.601, limited range). Each thread computes two pixels, which share a pair of chroma.
__device__ unsigned char clamped(int v) { return min(max(v, 0), 255); }

__device__ uchar4 pixel(int y, int u, int v) {
  int c = 298 * (y - 16) + 128, d = u - 128, e = v - 128;
  return make_uchar4(clamped((c + 409 * e) >> 8), clamped((c - 100 * d - 208 * e) >> 8), clamped((c + 516 * d) >> 8), 255);
}

extern "C" __global__ void nv12(const unsigned char *__restrict__ luma, const unsigned char *__restrict__ chroma, uchar4 *__restrict__ rgba) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int u = chroma[2 * i], v = chroma[2 * i + 1];
  rgba[2 * i] = pixel(luma[2 * i], u, v);
  rgba[2 * i + 1] = pixel(luma[2 * i + 1], u, v);
}
