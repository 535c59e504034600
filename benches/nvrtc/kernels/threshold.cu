// Threshold of a grey picture: 255 above the level, else 0. Each thread computes four pixels.
extern "C" __global__ void threshold(const uchar4 *__restrict__ grey, unsigned char level, uchar4 *__restrict__ result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 v = grey[i];
  v.x = v.x > level ? 255 : 0;
  v.y = v.y > level ? 255 : 0;
  v.z = v.z > level ? 255 : 0;
  v.w = v.w > level ? 255 : 0;
  result[i] = v;
}
