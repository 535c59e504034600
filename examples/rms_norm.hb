; RMS normalisation, as in newer language models: divides a row of activations by the root of its
; mean square, and multiplies each column by a gain. The sum of squares is in f32, and everything
; else in halves. Each item computes a row of `length` groups of four words, at least 1.
kernel rms_norm(length: i32, epsilon: f32, x: in f16x2 align 16, gain: in f16x2 align 16, y: out f16x2 align 16) {
  let i = item_id()
  let start = i * length * 4
  let n = fcvt_from_s.f32(length * 8)
  var (k, at, sum) = (0, start, 0f32)
  do {
    var v: f16x2[4]
    unroll for c in 0..4 { v[c] = x[at + c] }
    unroll for c in 0..4 {
      let (a, b) = (fcvt.f32(extract(v[c], 0)), fcvt.f32(extract(v[c], 1)))
      sum = ffma(b, b, ffma(a, a, sum))
    }
    at += 4
    k += 1
  } while k <_s length
  let scale = f16x2(fcvt.f16(1.0 / fsqrt(sum / n + epsilon)))
  var (j, column, to) = (0, 0, start)
  do {
    var v: f16x2[4]
    var g: f16x2[4]
    unroll for c in 0..4 {
      v[c] = x[to + c]
      g[c] = gain[column + c]
    }
    unroll for c in 0..4 { y[to + c] = v[c] * scale * g[c] }
    column += 4
    to += 4
    j += 1
  } while j <_s length
}

; run: halu, ptx: @rms_norm items=2 length=1 epsilon=1e-5 x=[[1, -1], [2, -2], [3, -3], [4, -4], [0.5, 0], [0, 0], [0, 0], [0, 100]] gain=[[1, 1], [1, 1], [2, 2], [0.5, -1]] y=zeros(8) -> y=[0xb5d835d8, 0xb9d839d8, 0xc0624062, 0x3dd839d8, 0x0000233e, 0x00000000, 0x00000000, 0xc1a80000]
; run: halu, ptx: @rms_norm items=40 length=3 epsilon=1e-6 x=random(480, 471) gain=random(12, 472) y=zeros(480)

; Eight rows of 64 activations.
; run: halu, ptx: @rms_norm items=8 length=8 epsilon=1e-5 x=@activations.npy gain=@activations-gain.npy y=zeros(256) -> y=@activations-rms.npy
