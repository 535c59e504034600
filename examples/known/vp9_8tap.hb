; Sharp filter of VP9 between rows: eight taps, 32-bit sums, rounded, divided by 128. Each item computes 16 pixels; a row has `w` items.

fn tap(src: in i8x16, at: i32, c: const) -> i32x16 { zext.i32x16(src[at]) * c }

kernel vp9_8tap_w(w: i32, src: in i8x16, dst: out i8x16) {
  let i = item_id()
  var at = i
  var sum = tap(src, at, -1)
  at += w
  sum += tap(src, at, 6)
  at += w
  sum += tap(src, at, -19)
  at += w
  sum += tap(src, at, 78)
  at += w
  sum += tap(src, at, 78)
  at += w
  sum += tap(src, at, -19)
  at += w
  sum += tap(src, at, 6)
  at += w
  sum += tap(src, at, -1)
  dst[i] = narrow_sat_u(narrow_sat_s.i16x16(round_shr_s(sum, 7)))
}

; run: halu, vp1, ptx: @vp9_8tap_w items=800 w=8 src=random(1024, 103)
