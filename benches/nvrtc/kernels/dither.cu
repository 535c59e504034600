// Ordered dithering of a row of a grey picture to black and white, by a matrix of 4 by 4 thresholds. Each thread computes four pixels.
__constant__ uchar4 thresholds[4] = {{8, 136, 40, 168}, {200, 72, 232, 104}, {56, 184, 24, 152}, {248, 120, 216, 88}};

extern "C" __global__ void dither(const uchar4 *__restrict__ grey, int row, uchar4 *__restrict__ result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 v = grey[i], t = thresholds[row & 3];
  result[i] = make_uchar4(v.x > t.x ? 255 : 0, v.y > t.y ? 255 : 0, v.z > t.z ? 255 : 0, v.w > t.w ? 255 : 0);
}
