; Activations in f32, of which each op is rounded once. What `fexp2` and `ftanh` give on a GPU is approximate.

fn exp(a: f32) -> f32 { fexp2(a * 1.442695) }
fn sigmoid(a: f32) -> f32 { 1.0 / (1.0 + exp(-a)) }
fn silu(a: f32) -> f32 { a / (1.0 + exp(-a)) }

; By the hyperbolic tangent, as networks are trained with.
fn gelu(a: f32) -> f32 {
  let t = ftanh((a + a * a * a * 0.044715) * 0.7978846)
  a * 0.5 * (t + 1.0)
}
