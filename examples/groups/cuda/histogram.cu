// Histogram of bytes, counted in shared memory first: ../histogram.hb in CUDA.
extern "C" __global__ void histogram(unsigned n, const unsigned char *x, unsigned *counts) {
  extern __shared__ unsigned bins[];
  unsigned l = threadIdx.x;
  bins[l] = 0;
  __syncthreads();
  unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + l; i < n; i += step) atomicAdd(&bins[x[i]], 1);
  __syncthreads();
  unsigned found = bins[l];
  if (found != 0) atomicAdd(&counts[l], found);
}
