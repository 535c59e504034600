// Smith-Waterman alignment by antidiagonals, four pairs of sequences in the bytes of a word: ../smith_waterman.hb in CUDA.
extern "C" __global__ void smith_waterman(unsigned length, unsigned match, unsigned mismatch, unsigned open, unsigned extend,
                                          const unsigned *a, const unsigned *b, unsigned *score) {
  __shared__ unsigned best[2][257];
  __shared__ unsigned gap[2][257];
  __shared__ unsigned most[256];
  unsigned l = threadIdx.x, size = blockDim.x;
  unsigned letter = a[blockIdx.x * size + l];
  const unsigned *other = b + blockIdx.x * length;
  if (l == 0) {
    // Above the first row, which only the first thread reads, no alignment has started.
    best[0][0] = gap[0][0] = best[1][0] = gap[1][0] = 0;
  }
  unsigned diagonal = 0, left = 0, gap_left = 0, top = 0;
  unsigned steps = size + length - 1;
  for (unsigned d = 0; d < steps; d++) {
    unsigned j = d - l, from = d & 1, to = from ^ 1;
    if (j < length) {
      unsigned above = best[from][l], gap_above = gap[from][l];
      unsigned same = __vcmpeq4(letter, other[j]);
      unsigned s = (match & same) | (mismatch & ~same);
      unsigned right = __vmaxs4(__vsubss4(left, open), __vsubss4(gap_left, extend));
      unsigned down = __vmaxs4(__vsubss4(above, open), __vsubss4(gap_above, extend));
      unsigned here = __vmaxs4(__vmaxs4(__vmaxs4(__vaddss4(diagonal, s), right), down), 0);
      best[to][l + 1] = here;
      gap[to][l + 1] = down;
      top = __vmaxs4(top, here);
      diagonal = above;
      left = here;
      gap_left = right;
    }
    __syncthreads();
  }
  most[l] = top;
  __syncthreads();
  for (unsigned h = size >> 1; h != 0; h >>= 1) {
    if (l < h) most[l] = __vmaxs4(most[l], most[l + h]);
    __syncthreads();
  }
  if (l == 0) score[blockIdx.x] = most[0];
}
