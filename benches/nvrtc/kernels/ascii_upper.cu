// Text in ASCII to upper case. Each thread converts four characters.
extern "C" __global__ void ascii_upper(const unsigned *__restrict__ text, unsigned *__restrict__ upper) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = text[i];
  unsigned is_lower = __vcmpgeu4(v, 0x61616161) & __vcmpleu4(v, 0x7a7a7a7a);
  upper[i] = v ^ (is_lower & 0x20202020);
}
