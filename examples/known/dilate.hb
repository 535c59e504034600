; Dilation by 3 by 3 pixels: the maximum of nine. Each item computes 16 pixels; a row has `w` items.
kernel dilate_i8x16(w: i32, s: in i8x16, d: out i8x16) {
  let i = item_id()
  var (a, b, c) = (s[i], s[i + 1], s[i + 2])
  var at = i
  unroll for row in 1..3 {
    at += w
    a = max_u(a, s[at])
    b = max_u(b, s[at + 1])
    c = max_u(c, s[at + 2])
  }
  let left = shuffle(a, b, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
  let right = shuffle(b, c, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
  d[i] = max_u(max_u(b, left), right)
}

; run: halu, vp1, ptx: @dilate_i8x16 items=800 w=8 s=random(1024, 101)
; run: halu, vp1, ptx: @dilate_i8x16 items=800 w=8 s=random(1024, 201)
