// The bits of each byte in reverse order. Each thread computes four bytes.
extern "C" __global__ void reverse_bits(const unsigned *__restrict__ data, unsigned *__restrict__ reversed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  reversed[i] = __byte_perm(__brev(data[i]), 0, 0x0123);
}
