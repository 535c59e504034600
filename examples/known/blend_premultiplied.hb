; Premultiplied source over destination, as in Skia and pixman: x / 255 is exactly (t + (t >> 8)) >> 8 with t = x + 128. A pixel is a word.

include "std/pixel"

kernel blend_premul(src: in i8x4, dst: inout i8x4) {
  let i = item_id()
  let (s, d) = (src[i], dst[i])
  let rest = !shuffle(s, s, [3, 3, 3, 3])
  let a = div255_pair(low(d) * low(rest))
  let b = div255_pair(high(d) * high(rest))
  dst[i] = add_sat_u(s, bytes(a, b))
}

; run: halu, vp1, ptx: @blend_premul items=256 src=random(256, 103) dst=random(256, 104)
