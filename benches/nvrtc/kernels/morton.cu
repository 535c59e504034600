// Morton codes of points with three coordinates of ten bits. Each thread computes a point.
__device__ unsigned spread(unsigned v) {
  v = (v | v << 16) & 0x030000ff;
  v = (v | v << 8) & 0x0300f00f;
  v = (v | v << 4) & 0x030c30c3;
  return (v | v << 2) & 0x09249249;
}

extern "C" __global__ void morton(const unsigned *__restrict__ x, const unsigned *__restrict__ y, const unsigned *__restrict__ z, unsigned *__restrict__ codes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  codes[i] = spread(x[i] & 1023) | spread(y[i] & 1023) << 1 | spread(z[i] & 1023) << 2;
}
