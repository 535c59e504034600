// Transpose of a matrix in tiles of shared memory with padding: ../transpose.hb in CUDA.
extern "C" __global__ void transpose(unsigned n, const float *x, float *y) {
  __shared__ float tile[16][17];
  unsigned u = threadIdx.x, v = threadIdx.y;
  unsigned col = blockIdx.x * 16 + u, row = blockIdx.y * 16 + v;
  tile[v][u] = x[row * n + col];
  __syncthreads();
  unsigned to_col = blockIdx.y * 16 + u, to_row = blockIdx.x * 16 + v;
  y[to_row * n + to_col] = tile[u][v];
}
