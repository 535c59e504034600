; GELU, the activation of transformers, in its form with tanh: x (1 + tanh(0.798 (x + 0.0447 x^3)))
; / 2, on packed halves and on packed bfloat16. (1 + tanh(u)) / 2 is approximated by 1/2 plus a
; polynomial with odd powers of u up to 9, for u from -3 to 3, clamped to [0, 1]. On halves the
; last multiply-add clamps. Its error is at most 0.008. Each item computes a word of two numbers.

fn argument<T>(v: T) -> T { fmax(fmin(v * ffma(v * v, 0.0357, 0.798), 3.0), -3.0) }

; The polynomial, divided by u.
fn odd<T>(u: T) -> T {
  let s = u * u
  ffma(s, ffma(s, ffma(s, ffma(s, 7.385e-5, -0.001999), 0.02124), -0.11804), 0.4814)
}

kernel gelu(x: in f16x2, y: out f16x2) {
  let i = item_id()
  let v = x[i]
  let u = argument(v)
  y[i] = v * ffma.sat(u, odd(u), 0.5)
}

kernel gelu_bf16(x: in bf16x2, y: out bf16x2) {
  let i = item_id()
  let v = x[i]
  let u = argument(v)
  y[i] = v * fmax(fmin(ffma(u, odd(u), 0.5), 1.0), 0.0)
}

; run: halu, ptx: @gelu items=6 x=[[0, 1], [-1, 0.5], [-0.25, 2], [4, -4], [inf, nan], [-0, 0.01]] y=zeros(6) -> y=[0x3aba0000, 0x357eb118, 0x3fceae79, 0x80004400, 0x7fff7c00, 0x1d298000]
; run: halu, ptx: @gelu_bf16 items=4 x=[0xbf803f80, 0xbe803f00, 0x40804000, 0x3c24c000] y=zeros(4) -> y=[0xbe243f57, 0xbdcf3eaf, 0x407e3ff9, 0x3ba5bd62]
; run: halu, ptx: @gelu items=1000 x=random(1000, 391) y=zeros(1000)
; run: halu, ptx: @gelu_bf16 items=1000 x=random(1000, 392) y=zeros(1000)

; Activations of a network.
; run: halu, ptx: @gelu items=256 x=@activations.npy y=zeros(256) -> y=@activations-gelu.npy
