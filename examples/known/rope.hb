; Rotary positional embedding of interleaved pairs. Word i is a pair of halves. It is rotated by the
; angle with cosine and sine in floats 2 i and 2 i + 1 of the table, which repeats every `n` words.
kernel rope(n: i32, x: inout f16x2, cs: in f32) {
  let i = item_id()
  let v = x[i]
  let at = i + i
  let (c, s) = (cs[at], cs[at + 1])
  let (a, b) = (fcvt.f32(extract(v, 0)), fcvt.f32(extract(v, 1)))
  let p = a * c - b * s
  let q = a * s + b * c
  x[i] = f16x2(fcvt.f16(p), fcvt.f16(q))
}

; run: halu, vp1, ptx: @rope items=64 n=64 x=random(64, 101) cs=random(128, 102)
; run: halu, vp1, ptx: @rope items=64 n=64 x=random(64, 201) cs=random(128, 202)
