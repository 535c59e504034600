; Half sample of luma in HEVC between rows: eight taps, rounded, divided by 64. Each item computes 16 pixels; a row has `w` items.

fn tap(src: in i8x16, at: i32, c: const) -> i16x16 { zext.i16x16(src[at]) * c }

kernel hevc_8tap_v(w: i32, src: in i8x16, dst: out i8x16) {
  let i = item_id()
  var at = i
  var sum = tap(src, at, -1)
  at += w
  sum += tap(src, at, 4)
  at += w
  sum += tap(src, at, -11)
  at += w
  sum += tap(src, at, 40)
  at += w
  sum += tap(src, at, 40)
  at += w
  sum += tap(src, at, -11)
  at += w
  sum += tap(src, at, 4)
  at += w
  sum += tap(src, at, -1)
  dst[i] = narrow_sat_u(round_shr_s(sum, 6))
}

; run: halu, vp1, ptx: @hevc_8tap_v items=800 w=8 src=random(1024, 103)
