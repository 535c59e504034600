// Sorts the elements of each block in ascending order by a bitonic network in shared memory: ../bitonic_sort.hb in CUDA.
extern "C" __global__ void sort(int *x) {
  __shared__ int s[256];
  unsigned l = threadIdx.x, i = blockIdx.x * blockDim.x + l, n = blockDim.x;
  s[l] = x[i];
  __syncthreads();
  for (unsigned k = 2; k <= n; k <<= 1) {
    for (unsigned j = k >> 1; j != 0; j >>= 1) {
      unsigned o = l ^ j;
      if (o > l) {
        int a = s[l], b = s[o];
        bool up = (l & k) == 0;
        s[l] = up ? min(a, b) : max(a, b);
        s[o] = up ? max(a, b) : min(a, b);
      }
      __syncthreads();
    }
  }
  x[i] = s[l];
}
