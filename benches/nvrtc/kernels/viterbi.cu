// A step of a Viterbi decoder for a code of rate 1/2: new path metrics of 16 bits, and the chosen paths. Each thread computes a
// butterfly of two states for two code words, which a word has side by side.
extern "C" __global__ void viterbi(const unsigned *__restrict__ metrics, const unsigned *__restrict__ branch, int half_states, unsigned *__restrict__ next, unsigned *__restrict__ chosen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = metrics[i], b = metrics[i + half_states], m = branch[i];
  unsigned p = __vaddss2(a, m), q = __vsubss2(b, m), r = __vsubss2(a, m), s = __vaddss2(b, m);
  next[2 * i] = __vmaxs2(p, q);
  next[2 * i + 1] = __vmaxs2(r, s);
  chosen[2 * i] = __vsetgts2(q, p);
  chosen[2 * i + 1] = __vsetgts2(s, r);
}
