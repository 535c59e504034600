; Half sample of H.264 between rows: six taps, 1 -5 20 20 -5 1, rounded, divided by 32. Each item computes 16 pixels; a row has `w` items.
kernel h264_6tap_v(w: i32, src: in i8x16, dst: out i8x16) {
  let i = item_id()
  var v: i16x16[6]
  var at = i
  unroll for k in 0..6 {
    v[k] = zext(src[at])
    at += w
  }
  dst[i] = narrow_sat_u(round_shr_s(v[0] + v[5] - (v[1] + v[4]) * 5 + (v[2] + v[3]) * 20, 5))
}

; run: halu, vp1, ptx: @h264_6tap_v items=800 w=8 src=random(1024, 103)
