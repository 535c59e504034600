// A queue of numbers, from which each warp takes 32 by a ticket: ../queue.hb in CUDA.
extern "C" __global__ void queue(unsigned n, const unsigned *x, unsigned *head, unsigned *y, unsigned *total, unsigned *taken) {
  __shared__ unsigned sum;
  __shared__ unsigned count;
  unsigned l = threadIdx.x, lane = l & 31;
  if (l == 0) {
    sum = 0;
    count = 0;
  }
  __syncthreads();
  for (;;) {
    unsigned ticket = 0;
    if (lane == 0) ticket = atomicAdd(head, 32);
    unsigned base = __shfl_sync(0xffffffff, ticket, 0);
    if (base >= n) break;
    unsigned t = base + lane;
    if (t < n) {
      unsigned steps = 0;
      for (unsigned v = x[t]; v > 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
      y[t] = steps;
      atomicAdd(&sum, steps);
      atomicAdd(&count, 1);
    }
  }
  __syncthreads();
  if (l == 0) {
    atomicAdd(total, sum);
    atomicAdd(taken, count);
  }
}
