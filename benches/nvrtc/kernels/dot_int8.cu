// Product of an int8 matrix and a vector. Each thread computes a row of 64 numbers.
extern "C" __global__ void dot_int8(const int *__restrict__ rows, const int *__restrict__ x, int *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 16; k++) sum = __dp4a(rows[16 * i + k], x[k], sum);
  y[i] = sum;
}
