; Constrained directional enhancement filter of AV1: adds differences to neighbours, reduced above a threshold. Four pixels for each item.

; The difference of b and a, reduced above the threshold.
fn held(b: i8x4, a: i8x4, threshold: i8x4) -> i8x4 {
  let d = absdiff_u(b, a)
  let size = min_u(d, sub_sat_u(threshold, d >>_u 1))
  select(b <_u a, -size, size)
}

kernel cdef_c(w: i32, thr: i8, src: in i8x4, dst: out i8x4) {
  let i = item_id()
  let (above, at) = (src[i], i + w)
  let (here, below) = (src[at], src[at + w])
  let threshold = i8x4(thr)
  let s = held(above, here, threshold) + held(below, here, threshold)
  let sum = s + s + s
  let moved = here + (sum + 8 + select(sum <_s 0, i8x4(-1), 0) >>_s 4)
  let most = max_u(max_u(above, below), here)
  dst[i] = max_u(min_u(moved, most), min_u(min_u(above, below), here))
}

; run: halu, vp1, ptx: @cdef_c items=3200 w=32 thr=12 src=random(4096, 103)
