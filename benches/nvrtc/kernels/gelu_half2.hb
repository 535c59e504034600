; GELU of packed halves, computed in f32 by the hyperbolic tangent. Each item computes two numbers.
include "std/half"

fn gelu_f32(x: f32) -> f32 {
  let t = ftanh(0.7978846 * ffma(0.044715 * x * x, x, x))
  ffma(0.5 * x, t, 0.5 * x)
}

kernel gelu_half2(x: in f16x2, y: out f16x2) {
  let i = item_id()
  let (a, b) = floats(x[i])
  y[i] = halves_of(gelu_f32(a), gelu_f32(b))
}
; run: halu, ptx: @gelu_half2 items=512 x=random(512, 1) y=zeros(512)
