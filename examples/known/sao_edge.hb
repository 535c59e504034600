; Sample adaptive offset of HEVC for vertical edges, with offsets 2, 1, 0, -1, -2. Each item computes four pixels; a row has `w` words.

; Compares bytes: -1 if a is less than b, 1 if it is greater, else 0.
fn sign(a: i8x4, b: i8x4) -> i8x4 {
  let less = a <_u b
  select(less, -1, select(a >_u b, 1, 0))
}

fn offset(s: i8x4) -> i8x4 {
  let (valley, concave, convex, peak) = (s == -2, s == -1, s == 1, s == 2)
  select(valley, 6, select(concave, 3, select(convex, -3, select(peak, -6, 0))))
}

kernel sao_i8x4(w: i32, src: in i8x4, dst: out i8x4) {
  let i = item_id()
  let at = i + w
  let (above, v, below) = (src[i], src[at], src[at + w])
  let d = offset(sign(v, above) + sign(v, below))
  let (more, less) = (max_s(d, 0), max_s(-d, 0))
  dst[i] = sub_sat_u(add_sat_u(v, more), less)
}

; run: halu, vp1, ptx: @sao_i8x4 items=3200 w=32 src=random(4096, 103)
