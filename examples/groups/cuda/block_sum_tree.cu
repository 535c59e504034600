// Sum of the elements of each block by a tree in shared memory: ../block_sum_tree.hb in CUDA.
extern "C" __global__ void block_sum(const int *x, int *y) {
  __shared__ int tile[256];
  unsigned l = threadIdx.x;
  tile[l] = x[blockIdx.x * blockDim.x + l];
  __syncthreads();
  for (unsigned s = blockDim.x >> 1; s != 0; s >>= 1) {
    if (l < s) tile[l] += tile[l + s];
    __syncthreads();
  }
  if (l == 0) y[blockIdx.x] = tile[0];
}
