// Hamming distance of binary descriptors of 256 bits to one descriptor. Each thread computes a distance.
extern "C" __global__ void hamming(const unsigned *__restrict__ query, const unsigned *__restrict__ descriptors, int *__restrict__ distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 8; k++) sum += __popc(query[k] ^ descriptors[8 * i + k]);
  distance[i] = sum;
}
