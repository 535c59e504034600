; A step of a Viterbi decoder for a code of rate 1/2: new path metrics of 16 bits, and the chosen paths. Each item computes a
; butterfly of two states for two code words, which a word has side by side.
kernel viterbi(metrics: in i16x2, branch: in i16x2, half_states: i32, next: out i16x2, chosen: out i16x2) {
  let i = item_id()
  let (a, b, m) = (metrics[i], metrics[i + half_states], branch[i])
  let (p, q, r, s) = (add_sat_s(a, m), sub_sat_s(b, m), sub_sat_s(a, m), add_sat_s(b, m))
  next[2 * i] = max_s(p, q)
  next[2 * i + 1] = max_s(r, s)
  chosen[2 * i] = select(q >_s p, 1, 0)
  chosen[2 * i + 1] = select(s >_s r, 1, 0)
}
; run: halu, ptx: @viterbi items=64 metrics=random(128, 1) branch=random(64, 2) half_states=64 next=zeros(128) chosen=zeros(128)
