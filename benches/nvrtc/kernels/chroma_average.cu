// Half-size plane of chroma: the rounded mean of 2 by 2 samples. Each thread computes four samples from two rows.
extern "C" __global__ void chroma_average(const uchar4 *__restrict__ upper, const uchar4 *__restrict__ lower, uchar4 *__restrict__ half_size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uchar4 a = upper[2 * i], b = upper[2 * i + 1], c = lower[2 * i], d = lower[2 * i + 1];
  half_size[i] = make_uchar4((a.x + a.y + c.x + c.y + 2) >> 2, (a.z + a.w + c.z + c.w + 2) >> 2,
                             (b.x + b.y + d.x + d.y + 2) >> 2, (b.z + b.w + d.z + d.w + 2) >> 2);
}
