; SiLU of packed halves, computed in f32: x / (1 + e^-x). Each item computes two numbers.
include "std/half"

kernel silu_half2(x: in f16x2, y: out f16x2) {
  let i = item_id()
  y[i] = silu_h2(x[i])
}
; run: halu, ptx: @silu_half2 items=512 x=random(512, 1) y=zeros(512)
