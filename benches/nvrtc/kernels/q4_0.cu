// Blocks of 32 weights of four bits with one scale, as in llama.cpp, to halves. Each thread converts a block.
#include <cuda_fp16.h>

struct Block {
  __half scale;
  unsigned char quants[16];
};

extern "C" __global__ void q4_0(const Block *__restrict__ blocks, __half2 *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 d = __half2half2(blocks[i].scale);
  for (int k = 0; k < 8; k++) {
    int a = blocks[i].quants[2 * k], b = blocks[i].quants[2 * k + 1];
    y[16 * i + k] = __hmul2(__halves2half2(__int2half_rn((a & 15) - 8), __int2half_rn((b & 15) - 8)), d);
    y[16 * i + 8 + k] = __hmul2(__halves2half2(__int2half_rn((a >> 4) - 8), __int2half_rn((b >> 4) - 8)), d);
  }
}
