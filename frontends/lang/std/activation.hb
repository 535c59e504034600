; The functions of `std/activation` are activations in `f32`, with one rounding per op. The ops `fexp2` and `ftanh` are approximate on a GPU. The errors are measured over all halves, converted to `f32`.

; Returns e to the power of a. Error: 4e-6, relative to the larger of the value and 1.
fn exp(a: f32) -> f32 { fexp2(a * 1.442695) }

; Returns the sigmoid, 1 / (1 + e^-a). Error: 9e-8, relative to the larger of the value and 1.
fn sigmoid(a: f32) -> f32 { 1.0 / (1.0 + exp(-a)) }

; Returns the hyperbolic tangent, of `f16`, `f16x2` and the other types of `ftanh`, too. Error: 0.5 ulp, on a GPU the error of `tanh.approx`.
fn tanh<T>(a: T) -> T { ftanh(a) }

; Returns SiLU, the product of a and its sigmoid. Error: 1.2e-7, relative to the larger of the value and 1.
fn silu(a: f32) -> f32 { a / (1.0 + exp(-a)) }

; Returns GELU in the common approximation by the hyperbolic tangent. Error: 1.1e-7, relative to the larger of the value and 1.
fn gelu(a: f32) -> f32 {
  let t = ftanh((a + a * a * a * 0.044715) * 0.7978846)
  a * 0.5 * (t + 1.0)
}
