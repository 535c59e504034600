; Inverse transform of H.264 on 4 by 4 coefficients, added to the prediction and clamped. Item i reads block i of `c`, 8
; words of two coefficients. It updates the four bytes at word i in four rows of `dst`, which are `stride` words apart.

; One pass of the transform.
fn idct(a: i16x2, b: i16x2, c: i16x2, d: i16x2) -> (i16x2, i16x2, i16x2, i16x2) {
  let (s, t) = (a + c, a - c)
  let u = (b >>_s 1) - d
  let v = b + (d >>_s 1)
  (s + v, t + u, t - u, s - v)
}

; Transposes four rows: the columns become the lanes.
fn turned(a: i16x2, b: i16x2, c: i16x2, d: i16x2) -> (i16x2, i16x2, i16x2, i16x2) {
  (shuffle(a, b, [0, 2]), shuffle(a, b, [1, 3]), shuffle(c, d, [0, 2]), shuffle(c, d, [1, 3]))
}

fn scaled(a: i16x2, b: i16x2, c: i16x2, d: i16x2) -> (i16x2, i16x2, i16x2, i16x2) {
  let (p, q, r, s) = idct(a, b, c, d)
  (p + 32 >>_s 6, q + 32 >>_s 6, r + 32 >>_s 6, s + 32 >>_s 6)
}

fn pixels(p: i16x2, a: i16x2) -> i8x4 { bitcast.i8x4(min_s(max_s(p + a, 0), 255)) }

fn put(at: i32, dst: inout i8x4, low: i16x2, high: i16x2) {
  let p = dst[at]
  let a = pixels(bitcast(shuffle(p, i8x4(0), [0, 4, 1, 4])), low)
  let b = pixels(bitcast(shuffle(p, i8x4(0), [2, 4, 3, 4])), high)
  dst[at] = shuffle(a, b, [0, 2, 4, 6])
}

kernel h264_idct4(stride: i32, c: in i16x2, dst: inout i8x4) {
  let i = item_id()
  var v: i16x2[8]
  unroll for k in 0..8 { v[k] = c[i * 8 + k] }
  let (a0, a1, a2, a3) = idct(v[0], v[2], v[4], v[6])
  let (b0, b1, b2, b3) = idct(v[1], v[3], v[5], v[7])
  let (c0, c1, c2, c3) = turned(a0, a1, a2, a3)
  let (d0, d1, d2, d3) = turned(b0, b1, b2, b3)
  let (e0, e1, e2, e3) = scaled(c0, c1, d0, d1)
  let (f0, f1, f2, f3) = scaled(c2, c3, d2, d3)
  let (g0, g1, g2, g3) = turned(e0, e1, e2, e3)
  let (h0, h1, h2, h3) = turned(f0, f1, f2, f3)
  put(i, dst, g0, g2)
  let second = i + stride
  put(second, dst, g1, g3)
  let third = second + stride
  put(third, dst, h0, h2)
  put(third + stride, dst, h1, h3)
}

; run: halu, vp1, ptx: @h264_idct4 items=32 stride=32 c=random(256, 101) dst=random(128, 103)
