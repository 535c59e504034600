; SATD of 4 by 4 pixels, as in x264: half the sum of the magnitudes of the Hadamard transform of the
; difference of two blocks. Item i reads the four bytes at word i in four rows that are `w` words apart.

fn low(v: i8x4) -> i16x2 { bitcast(shuffle(v, i8x4(0), [0, 4, 1, 4])) }
fn high(v: i8x4) -> i16x2 { bitcast(shuffle(v, i8x4(0), [2, 4, 3, 4])) }

fn hadamard(a: i16x2, b: i16x2, c: i16x2, d: i16x2) -> (i16x2, i16x2, i16x2, i16x2) {
  let (s, t) = (a + b, a - b)
  let (u, v) = (c + d, c - d)
  (s + u, t + v, s - u, t - v)
}

; Transposes four rows: the columns become the lanes.
fn turned(a: i16x2, b: i16x2, c: i16x2, d: i16x2) -> (i16x2, i16x2, i16x2, i16x2) {
  (shuffle(a, b, [0, 2]), shuffle(a, b, [1, 3]), shuffle(c, d, [0, 2]), shuffle(c, d, [1, 3]))
}

kernel satd4(w: i32, a: in i8x4, b: in i8x4, s: out i32) {
  let i = item_id()
  var l: i16x2[4]
  var h: i16x2[4]
  var at = i
  unroll for k in 0..4 {
    let (p, q) = (a[at], b[at])
    l[k] = low(p) - low(q)
    h[k] = high(p) - high(q)
    at += w
  }
  let (c0, c1, c2, c3) = hadamard(l[0], l[1], l[2], l[3])
  let (d0, d1, d2, d3) = hadamard(h[0], h[1], h[2], h[3])
  let (p0, p1, p2, p3) = turned(c0, c1, c2, c3)
  let (q0, q1, q2, q3) = turned(d0, d1, d2, d3)
  let (e0, e1, e2, e3) = hadamard(p0, p1, q0, q1)
  let (f0, f1, f2, f3) = hadamard(p2, p3, q2, q3)
  let sum = abs(e0) + abs(f0) + abs(e1) + abs(f1) + abs(e2) + abs(f2) + abs(e3) + abs(f3)
  s[i] = reduce_add_u(sum) >>_u 1
}

; run: halu, vp1, ptx: @satd4 items=32 w=32 a=random(128, 101) b=random(128, 102)
; run: halu, vp1, ptx: @satd4 items=32 w=32 a=random(128, 201) b=random(128, 202)
