; The functions of `std/half` compute on pairs of halves. Functions that end in `_h2` use ops that GPUs have, mostly in `f32`. Functions that end in
; `_poly` or `_newton` use no ops that are approximate on a GPU. Each error is the largest error over all halves.

include "std/activation"

; Converts the lanes to `f32`.
fn floats(v: f16x2) -> (f32, f32) { (fcvt.f32(extract(v, 0)), fcvt.f32(extract(v, 1))) }

; Rounds two numbers to halves.
fn halves_of(a: f32, b: f32) -> f16x2 { f16x2(fcvt.f16(a), fcvt.f16(b)) }

; Returns 2 to the power of each lane. Error: 0.501 ulp, on a GPU the error of `ex2.approx`.
fn exp2_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(fexp2(a), fexp2(b))
}

; Returns the base-2 logarithm of each lane: -inf for zeros, NaN for negative numbers. Error: 0.5 ulp, on a GPU the error of `lg2.approx`.
fn log2_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(flog2(a), flog2(b))
}

; Returns the reciprocal square root of each lane: infinity with the sign of the zero for zeros, NaN for negative numbers. Error: 0.5 ulp, on a GPU the error of `rsqrt.approx`.
fn rsqrt_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(frsqrt(a), frsqrt(b))
}

; Returns the hyperbolic tangent of each lane. Error: 0.5 ulp, on a GPU the error of `tanh.approx`.
fn tanh_h2(v: f16x2) -> f16x2 { ftanh(v) }

; Returns `gelu` of each lane, computed in `f32`. Error: 0.0005, relative to the larger of the value and 1.
fn gelu_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(gelu(a), gelu(b))
}

; Returns `silu` of each lane, computed in `f32`. Error: 0.0005, relative to the larger of the value and 1.
fn silu_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(silu(a), silu(b))
}

; Returns 2 to the power of each lane, bit for bit as on a GPU. Error: 0.874 ulp.
fn exp2_poly(v: f16x2) -> f16x2 {
  ; Adding 1536 rounds to an integer, which is then in the low bits.
  let x = fmin.nan(fmax.nan(v, -26.0), 17.0)
  let shifted = x + 1536.0
  let f = x - (shifted - 1536.0)
  let p = ffma(f, ffma(f, ffma(f, 0.05606, 0.2417), 0.693), 1.0)

  ; The power is split into two factors, because 2^-26 and 2^17 are not representable as halves.
  let n = bitcast.i16x2(shifted) - 0x66006600
  let half = n >>_s 1
  p * bitcast.f16x2(half + 15 << 10) * bitcast.f16x2(n - half + 15 << 10)
}

; Returns the base-2 logarithm of each lane, bit for bit as on a GPU: -inf for zeros, NaN for negative numbers. Error: 0.748 ulp.
fn log2_poly(v: f16x2) -> f16x2 {
  ; Splits v into a power of 2 and a factor from about sqrt(1/2) on. For v near 1 the power must be 1.
  let tiny = fcmp.lt(v, 6.1035e-5)
  let bits = bitcast.i16x2(select(tiny, v * 1024.0, v))
  let e = bits - 0x39a839a8 >>_s 10
  let t = bitcast.f16x2(bits - (e << 10)) - 1.0
  let a = ffma(t, ffma(t, ffma(t, ffma(t, ffma(t, -0.20227, 0.3169), -0.36694), 0.48), -0.7212), 0.0052)
  let near = ffma(t, 1.4375, t * a)
  let power = bitcast.f16x2(e + 0x66006600) - select(tiny, f16x2(1546.0), f16x2(1536.0))
  let other = select(fcmp.eq(v, 0.0), f16x2(-inf), select(fcmp.eq(v, inf), v, f16x2(nan)))
  select(fcmp.gt(v, 0.0) & fcmp.lt(v, inf), near + power, other)
}

; Returns the reciprocal square root of each lane, bit for bit as on a GPU: infinity with the sign of the zero for zeros, NaN for negative numbers. Error: 0.507 ulp.
fn rsqrt_newton(v: f16x2) -> f16x2 {
  let tiny = fcmp.lt(v, 6.1035e-5)
  let x = select(tiny, v * 1024.0, v)

  ; A first estimate halves and negates the exponent with a shift. Two Newton steps follow, the second with the rounding error of x y.
  let first = bitcast.f16x2(0x59b759b7 - (bitcast.i16x2(x) >>_u 1))
  let y = first * ffma(x * -0.5 * first, first, 1.5)
  let s = x * y
  let r = ffma(-ffma(x, y, -s), y, ffma(-s, y, 1.0))
  let near = ffma(y * 0.5, r, y)
  let root = select(tiny, near * 32.0, near)
  let infinity = bitcast.f16x2(bitcast.i16x2(v) | 0x7c007c00)
  let other = select(fcmp.eq(v, 0.0), infinity, select(fcmp.eq(v, inf), f16x2(0.0), f16x2(nan)))
  select(fcmp.gt(v, 0.0) & fcmp.lt(v, inf), root, other)
}
