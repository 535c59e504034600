; Half-size plane of chroma: the rounded mean of 2 by 2 samples. Each item computes four samples from two rows.
include "std/pixel"

; Sums of neighbouring bytes.
fn pairs(v: i8x4) -> i16x2 { (bitcast.i16x2(v) & 255) + (bitcast.i16x2(v) >>_u 8) }

fn mean(a: i8x4, b: i8x4) -> i16x2 { pairs(a) + pairs(b) + 2 >>_u 2 }

kernel chroma_average(upper: in i8x4, lower: in i8x4, half_size: out i8x4) {
  let i = item_id()
  half_size[i] = bytes(mean(upper[2 * i], lower[2 * i]), mean(upper[2 * i + 1], lower[2 * i + 1]))
}
; run: halu, ptx: @chroma_average items=128 upper=random(256, 1) lower=random(256, 2) half_size=zeros(128)
