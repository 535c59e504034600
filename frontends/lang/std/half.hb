; Pairs of halves. What ends in `_h2` goes by an op that GPUs have, most in `f32`. What ends in `_poly` or `_newton` has no op that is approximate on a GPU. Errors are the
; largest over all halves.

include "std/activation"

; The lanes as `f32`.
fn floats(v: f16x2) -> (f32, f32) { (fcvt.f32(extract(v, 0)), fcvt.f32(extract(v, 1))) }

; Two numbers, each rounded to a half.
fn halves_of(a: f32, b: f32) -> f16x2 { f16x2(fcvt.f16(a), fcvt.f16(b)) }

; 2 to the power of each lane. Error: 0.501 ulp, on a GPU that of its `ex2.approx`.
fn exp2_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(fexp2(a), fexp2(b))
}

; The logarithm to base 2 of each lane: -inf of zeros, NaN of negative numbers. Error: 0.5 ulp, on a GPU that of its `lg2.approx`.
fn log2_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(flog2(a), flog2(b))
}

; 1 by the square root of each lane: the infinity of their sign of zeros, NaN of negative numbers. Error: 0.5 ulp, on a GPU that of its `rsqrt.approx`.
fn rsqrt_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(frsqrt(a), frsqrt(b))
}

; The hyperbolic tangent of each lane. Error: 0.5 ulp, on a GPU that of its `tanh.approx`.
fn tanh_h2(v: f16x2) -> f16x2 { ftanh(v) }

; `gelu` of each lane, in `f32`. Error: 0.0005 of the value, or of 1 where that is less.
fn gelu_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(gelu(a), gelu(b))
}

; `silu` of each lane, in `f32`. Error: 0.0005 of the value, or of 1 where that is less.
fn silu_h2(v: f16x2) -> f16x2 {
  let (a, b) = floats(v)
  halves_of(silu(a), silu(b))
}

; 2 to the power of each lane, the same bits on a GPU. Error: 0.874 ulp.
fn exp2_poly(v: f16x2) -> f16x2 {
  ; Beside 1536 there is no room for a fraction; the whole part is in the low bits.
  let x = fmin.nan(fmax.nan(v, -26.0), 17.0)
  let shifted = x + 1536.0
  let f = x - (shifted - 1536.0)
  let p = ffma(f, ffma(f, ffma(f, 0.05606, 0.2417), 0.693), 1.0)

  ; Two factors: no half is 2 to the power of -26 or 17.
  let n = bitcast.i16x2(shifted) - 0x66006600
  let half = n >>_s 1
  p * bitcast.f16x2(half + 15 << 10) * bitcast.f16x2(n - half + 15 << 10)
}

; The logarithm to base 2 of each lane, the same bits on a GPU: -inf of zeros, NaN of negative numbers. Error: 0.748 ulp.
fn log2_poly(v: f16x2) -> f16x2 {
  ; A power of 2 by a number next to 1: from the half below the root of 1/2 on, for near 1 the power must be 1.
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

; 1 by the square root of each lane, the same bits on a GPU: the infinity of their sign of zeros, NaN of negative numbers. Error: 0.507 ulp.
fn rsqrt_newton(v: f16x2) -> f16x2 {
  let tiny = fcmp.lt(v, 6.1035e-5)
  let x = select(tiny, v * 1024.0, v)

  ; Half of the exponent, negated, by a shift; a step; and one with what is rounded away of x y.
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
