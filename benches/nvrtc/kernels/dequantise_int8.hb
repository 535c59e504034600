; int8 weights to halves, with one scale. Each item converts four weights.
include "std/quant"

kernel dequantise_int8(weights: in i8x4, scale: f16, y: out f16x2) {
  let i = item_id()
  let w = weights[i]
  let s = f16x2(scale)
  y[2 * i] = halves_signed(w, 0) * s
  y[2 * i + 1] = halves_signed(w, 2) * s
}
; run: halu, ptx: @dequantise_int8 items=256 weights=random(256, 1) scale=0.0123 y=zeros(512)
