; SiLU, x / (1 + exp(-x)), on words of two halves, in f32, with a polynomial for the exponential.

; exp(-a) as 2 to the power of a * -log2(e): the integer part sets the exponent, and a polynomial computes the fraction.
fn exp_minus(a: f32) -> f32 {
  let t = fmin(fmax(a * -1.442695, -126.0), 126.0)
  let whole = t + 12582912.0
  let r = t - (whole - 12582912.0)
  let p = ffma(ffma(ffma(0.0013333558, r, 0.009618129), r, 0.05550411), r, 0.2402265)
  bitcast.f32(bitcast.i32(ffma(ffma(p, r, 0.6931472), r, 1.0)) + (bitcast.i32(whole) << 23))
}

fn silu_of(h: f16) -> f16 {
  let a = fcvt.f32(h)
  fcvt.f16(a / (exp_minus(a) + 1.0))
}

kernel silu(x: in f16x2, y: out f16x2) {
  let i = item_id()
  let v = x[i]
  y[i] = f16x2(silu_of(extract(v, 0)), silu_of(extract(v, 1)))
}

; run: halu, ptx: @silu items=64 x=random(64, 101)
; run: halu, ptx: @silu items=64 x=random(64, 201)
