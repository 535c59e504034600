; Mean of 3 by 3 RGBA pixels. Each item computes a pixel. Rows are `w` pixels apart.
include "std/pixel"

; Returns lanes of at most 2295, divided by 9.
fn ninth(sum: i16x2) -> i16x2 { mul_hi_u(sum, 7282) }

kernel box_blur(pixels: in i8x4, w: i32, blurred: out i8x4) {
  let i = item_id()
  var (rg, ba) = (0i16x2, 0i16x2)
  unroll for y in 0..3 {
    unroll for x in 0..3 {
      let p = pixels[i + y * w + x]
      rg += low(p)
      ba += high(p)
    }
  }
  blurred[i] = bytes(ninth(rg), ninth(ba))
}
; run: halu, ptx: @box_blur items=256 pixels=random(400, 1) w=64 blurred=zeros(256)
