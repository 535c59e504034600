; Sobel magnitude |gx| + |gy|, clamped. Each item computes 16 pixels; a row has `w` items, and its ends use pixels of the adjacent rows.

fn left(a: i8x16, b: i8x16) -> i16x16 {
  zext(shuffle(a, b, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]))
}

fn right(a: i8x16, b: i8x16) -> i16x16 {
  zext(shuffle(a, b, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]))
}

; The left neighbours, the pixels themselves, and the right neighbours.
fn row(s: in i8x16, at: i32) -> (i16x16, i16x16, i16x16) {
  let (a, b, c) = (s[at], s[at + 1], s[at + 2])
  (left(a, b), zext.i16x16(b), right(b, c))
}

fn magnitude(a: i16x16, b: i16x16, c: i16x16) -> i8x16 { narrow_sat_u(a + b * 2 + c) }

kernel sobel_v2(w: i32, s: in i8x16, d: out i8x16) {
  let i = item_id()
  let (a, b, c) = row(s, i)
  let second = i + w
  let (e, f, g) = row(s, second)
  let (p, q, r) = row(s, second + w)
  let gx = add_sat_u(magnitude(c - a, g - e, r - p), magnitude(a - c, e - g, p - r))
  d[i] = add_sat_u(add_sat_u(gx, magnitude(p - a, q - b, r - c)), magnitude(a - p, b - q, c - r))
}

; run: halu, vp1, ptx: @sobel_v2 items=800 w=8 s=random(1024, 101)
; run: halu, vp1, ptx: @sobel_v2 items=800 w=8 s=random(1024, 201)
