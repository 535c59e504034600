; Activations in `f32`, of which each op is rounded once; `fexp2` and `ftanh` are approximate on a GPU. Errors are of every half, as an `f32`.

; e to the power of a. Error: 4e-6 of the value, or of 1 where that is less.
fn exp(a: f32) -> f32 { fexp2(a * 1.442695) }

; 1 / (1 + e^-a). Error: 9e-8 of the value, or of 1 where that is less.
fn sigmoid(a: f32) -> f32 { 1.0 / (1.0 + exp(-a)) }

; The hyperbolic tangent, also of `f16`, `f16x2` and the others that `ftanh` has. Error: 0.5 ulp, on a GPU that of its `tanh.approx`.
fn tanh<T>(a: T) -> T { ftanh(a) }

; a times its sigmoid. Error: 1.2e-7 of the value, or of 1 where that is less.
fn silu(a: f32) -> f32 { a / (1.0 + exp(-a)) }

; a times the normal distribution up to a, by the hyperbolic tangent, as networks are trained with. Error: 1.1e-7 of the value, or of 1 where that is less.
fn gelu(a: f32) -> f32 {
  let t = ftanh((a + a * a * a * 0.044715) * 0.7978846)
  a * 0.5 * (t + 1.0)
}
