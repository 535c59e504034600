// Dot product with 2:4 sparse int8 weights. A word has four weights for eight inputs; a byte of `places` has their two-bit places in
// their group of four inputs. Each thread computes the product of a row of 32 inputs.
extern "C" __global__ void sparse_dot(const char4 *__restrict__ weights, const unsigned char *__restrict__ places, const signed char *__restrict__ x, int *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 4; k++) {
    char4 w = weights[4 * i + k];
    int p = places[4 * i + k];
    sum += w.x * x[8 * k + (p & 3)];
    sum += w.y * x[8 * k + (p >> 2 & 3)];
    sum += w.z * x[8 * k + 4 + (p >> 4 & 3)];
    sum += w.w * x[8 * k + 4 + (p >> 6)];
  }
  y[i] = sum;
}
