; Transpose of blocks of 8 by 8 bytes, one for each item.

; Transposes four rows of four bytes to rows `at`, `at` + 2, .. of words.
fn turn(d: out i8x4, at: i32, k: const, a: i8x4, b: i8x4, e: i8x4, f: i8x4) {
  let (p, q) = (shuffle(a, b, [0, 4, 1, 5]), shuffle(e, f, [0, 4, 1, 5]))
  let (r, s) = (shuffle(a, b, [2, 6, 3, 7]), shuffle(e, f, [2, 6, 3, 7]))
  let (u, v) = (shuffle(p, q, [0, 1, 4, 5]), shuffle(p, q, [2, 3, 6, 7]))
  let (x, y) = (shuffle(r, s, [0, 1, 4, 5]), shuffle(r, s, [2, 3, 6, 7]))
  d[at + k] = u
  d[at + (k + 2)] = v
  d[at + (k + 4)] = x
  d[at + (k + 6)] = y
}

kernel transpose8(s: in i8x4, d: out i8x4) {
  let i = item_id()
  let at = i * 16
  var v: i8x4[16]
  unroll for k in 0..16 { v[k] = s[at + k] }
  turn(d, at, 0, v[0], v[2], v[4], v[6])
  turn(d, at, 8, v[1], v[3], v[5], v[7])
  turn(d, at, 1, v[8], v[10], v[12], v[14])
  turn(d, at, 9, v[9], v[11], v[13], v[15])
}

; run: halu, vp1, ptx: @transpose8 items=20 s=random(320, 101)
; run: halu, vp1, ptx: @transpose8 items=20 s=random(320, 201)
