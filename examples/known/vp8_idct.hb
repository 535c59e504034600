; Vertical pass of the inverse transform of VP8: item i computes two columns of four coefficients, words 4 i to 4 i + 3, one word for each row.

; Products with the constants of the standard, sqrt(2) cos(pi / 8) and sqrt(2) sin(pi / 8), divided by 65536.
fn cosine(a: i16x2) -> i16x2 { a + mul_hi_s(a, 20091) }
fn sine(a: i16x2) -> i16x2 { a + mul_hi_s(a, -30068) }

kernel vp8_idct(c: in i16x2, o: out i16x2) {
  let at = item_id() * 4
  let (p, q, r, t) = (c[at], c[at + 1], c[at + 2], c[at + 3])
  let (a, b) = (p + r, p - r)
  let d = sine(q) - cosine(t)
  let e = cosine(q) + sine(t)
  let (first, second, third, last) = (a + e, b + d, b - d, a - e)
  o[at] = first
  o[at + 1] = second
  o[at + 2] = third
  o[at + 3] = last
}

; run: halu, vp1, ptx: @vp8_idct items=16 c=random(64, 101)
; run: halu, vp1, ptx: @vp8_idct items=16 c=random(64, 201)
