// Kernels with barriers of the whole grid. nvrtc.ptx is what NVRTC of CUDA 13 makes of this file with
//   --gpu-architecture=compute_75 -std=c++17
// without the variables of the headers, which no kernel uses.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Computes the sum of x from one partial sum per block. Between barriers, each block reads what other blocks wrote.
extern "C" __global__ void sums(const int *x, int *partial, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int tile[256];
  int t = threadIdx.x, sum = 0, total = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  tile[t] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half; half /= 2) {
    if (t < half) tile[t] += tile[t + half];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = tile[0];
  grid.sync();
  for (int block = 0; block < gridDim.x; block++) total += partial[block];
  grid.sync();
  if (t == 0) partial[blockIdx.x] = total + blockIdx.x;
  grid.sync();
  out[grid.thread_rank()] = partial[(blockIdx.x + 1) % gridDim.x] + t;
}

// Stores 1 if the launch is cooperative.
extern "C" __global__ void valid(int *out) { *out = cg::this_grid().is_valid(); }

// Arrives at the barrier of the grid, and works until the others have arrived.
extern "C" __global__ void arrive(int *x, int *out) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  x[i] = i;
  auto token = grid.barrier_arrive();
  out[i] = grid.num_blocks();
  grid.barrier_wait(static_cast<decltype(token) &&>(token));
  out[i] += x[grid.size() - 1 - i];
}
