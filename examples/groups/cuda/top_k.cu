// The k largest elements of each block by ballots: ../top_k.hb in CUDA.
extern "C" __global__ void top_k(unsigned k, const int *x, int *y, int *at) {
  __shared__ unsigned counts[32];
  unsigned l = threadIdx.x, lane = l & 31, warp = l >> 5, warps = blockDim.x >> 5;
  unsigned below = (1u << lane) - 1;
  int v = x[blockIdx.x * blockDim.x + l];
  unsigned key = (unsigned)v ^ 0x80000000u;
  unsigned need = k;
  bool agrees = true, taken = false;
  for (unsigned b = 32; b-- != 0;) {
    bool bit = (key >> b & 1) != 0;
    bool set = agrees && bit;
    unsigned count = __popc(__ballot_sync(0xffffffff, set));
    unsigned half = (b & 1) << 3;
    if (lane == 0) counts[half + warp] = count;
    __syncthreads();
    unsigned total = __reduce_add_sync(0xffffffff, lane < warps ? counts[half + lane] : 0);
    if (total >= need) {
      agrees = set;
    } else {
      agrees = agrees && !bit;
      taken = taken || set;
      need -= total;
    }
  }
  // The remaining candidates are all equal to the k-th largest element.
  unsigned equal = __ballot_sync(0xffffffff, agrees);
  if (lane == 0) counts[16 + warp] = __popc(equal);
  __syncthreads();
  unsigned equal_before = __reduce_add_sync(0xffffffff, lane < warp ? counts[16 + lane] : 0);
  bool chosen = taken || (agrees && equal_before + __popc(equal & below) < need);
  unsigned votes = __ballot_sync(0xffffffff, chosen);
  if (lane == 0) counts[24 + warp] = __popc(votes);
  __syncthreads();
  unsigned before = __reduce_add_sync(0xffffffff, lane < warp ? counts[24 + lane] : 0);
  if (chosen) {
    unsigned to = blockIdx.x * k + before + __popc(votes & below);
    y[to] = v;
    at[to] = l;
  }
}
