; Gaussian filter of five rows, 1 4 6 4 1, rounded. Each item computes 16 pixels; a row has `w` items.
kernel gauss5_i8x16(w: i32, s: in i8x16, d: out i8x16) {
  let i = item_id()
  var v: i16x16[5]
  var at = i
  unroll for k in 0..5 {
    v[k] = zext(s[at])
    at += w
  }
  d[i] = trunc(round_shr_u(v[0] + v[4] + (v[1] + v[3]) * 4 + v[2] * 6, 4))
}

; run: halu, vp1, ptx: @gauss5_i8x16 items=800 w=8 s=random(1024, 101)
; run: halu, vp1, ptx: @gauss5_i8x16 items=800 w=8 s=random(1024, 201)
