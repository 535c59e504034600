; Layer normalisation in a transformer. A row of activations plus its bias and its
; residual is shifted and scaled to mean 0 and variance 1. Then each column has a
; gain and a shift. Sums are in f32, and everything else is in halves or in bfloat16.
;
; Each item computes a row of `length` words, at least 1. It first stores the sums in y, and then normalises y in place.

; T is a pair of H.
fn normalise<T, H>(length: i32, epsilon: f32, x: in T, residual: in T, bias: in T, gain: in T, shift: in T, y: inout T) {
  let i = item_id()
  let start = i * length
  let n = fcvt_from_s.f32(length + length)
  var (k, at, sum, squares) = (0, start, 0f32, 0f32)
  do {
    let v = x[at] + bias[k] + residual[at]
    y[at] = v
    let (a, b) = (fcvt.f32(extract(v, 0)), fcvt.f32(extract(v, 1)))
    sum = sum + a + b
    squares = ffma(b, b, ffma(a, a, squares))
    at += 1
    k += 1
  } while k <_s length
  let mean = sum / n
  let difference = squares / n - mean * mean
  let variance = select(difference < 0.0, 0.0, difference)
  let inverse = 1.0 / fsqrt(variance + epsilon)
  let (m, s) = (T(fcvt.H(mean)), T(fcvt.H(inverse)))
  var (j, to) = (0, start)
  do {
    y[to] = ffma((y[to] - m) * s, gain[j], shift[j])
    to += 1
    j += 1
  } while j <_s length
}

kernel layer_norm(length: i32, epsilon: f32, x: in f16x2, residual: in f16x2, bias: in f16x2, gain: in f16x2,
  shift: in f16x2, y: inout f16x2) {
  normalise.f16x2.f16(length, epsilon, x, residual, bias, gain, shift, y)
}

kernel layer_norm_bf16(length: i32, epsilon: f32, x: in bf16x2, residual: in bf16x2, bias: in bf16x2, gain: in bf16x2,
  shift: in bf16x2, y: inout bf16x2) {
  normalise.bf16x2.bf16(length, epsilon, x, residual, bias, gain, shift, y)
}

; run: halu, ptx: @layer_norm items=2 length=2 epsilon=1e-5 x=[[1, 2], [3, 4], [0.5, -0.5], [8, -8]] residual=[[0, 0], [0, 0], [1, 1], [-1, -1]] bias=[[0, 0.25], [0, 0]] gain=[[1, 1], [2, -1]] shift=[[0, 1], [0, 0.5]] y=zeros(4) -> y=[0x39b8bdb5, 0xba803a64, 0x3c7a33fc, 0x402640d1]
; run: halu, ptx: @layer_norm_bf16 items=2 length=2 epsilon=1e-5 x=[[1, 2], [3, 4], [0.5, -0.5], [8, -8]] residual=[[0, 0], [0, 0], [1, 1], [-1, -1]] bias=[[0, 0.25], [0, 0]] gain=[[1, 1], [2, -1]] shift=[[0, 1], [0, 0.5]] y=zeros(4) -> y=[0x3f37bfb7, 0xbf503f4d, 0x3f8f3e80, 0x4005401a]
; run: halu, ptx: @layer_norm items=40 length=9 epsilon=1e-5 x=random(360, 401) residual=random(360, 402) bias=random(9, 403) gain=random(9, 404) shift=random(9, 405) y=zeros(360)
; run: halu, ptx: @layer_norm_bf16 items=40 length=9 epsilon=1e-5 x=random(360, 406) residual=random(360, 407) bias=random(9, 408) gain=random(9, 409) shift=random(9, 410) y=zeros(360)

; Eight rows of 64 activations.
; run: halu, ptx: @layer_norm items=8 length=32 epsilon=1e-5 x=@activations.npy residual=@activations-residual.npy bias=@activations-bias.npy gain=@activations-gain.npy shift=@activations-shift.npy y=zeros(256) -> y=@activations-normal.npy
