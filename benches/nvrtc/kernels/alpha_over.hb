; A picture with premultiplied alpha over another one: s + d (255 - alpha of s) / 255. Each item computes a pixel.
include "std/pixel"

kernel alpha_over(above: in i8x4, below: in i8x4, result: out i8x4) {
  let i = item_id()
  let (s, d) = (above[i], below[i])
  let k = i16x2(zext.i16(255 - extract(s, 3)))
  result[i] = s + bytes(div255_pair(low(d) * k), div255_pair(high(d) * k))
}
; run: halu, ptx: @alpha_over items=256 above=random(256, 1) below=random(256, 2) result=zeros(256)
