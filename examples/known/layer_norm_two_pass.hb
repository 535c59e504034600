; Layer normalisation of a row of halves: the mean and then the variance in f32, in two passes for accuracy; then
; gain and bias. Item i computes row i of `n` words. `inv` is the reciprocal of the number of halves in a row.
kernel layernorm_h2(n: i32, inv: f32, x: in f16x2, g: in f16x2, b: in f16x2, y: out f16x2) {
  let i = item_id()
  let row = i * n
  var (k, sum, at) = (0, 0.0f32, row)
  do {
    let v = x[at]
    sum = sum + fcvt.f32(extract(v, 0)) + fcvt.f32(extract(v, 1))
    at += 1
    k += 1
  } while k <_s n
  let mean = sum * inv
  var (l, squares, again) = (0, 0.0f32, row)
  do {
    let v = x[again]
    let p = fcvt.f32(extract(v, 0)) - mean
    let q = fcvt.f32(extract(v, 1)) - mean
    squares = ffma(q, q, ffma(p, p, squares))
    again += 1
    l += 1
  } while l <_s n
  let scale = 1.0 / fsqrt(squares * inv + 1e-05)
  var (m, to) = (0, row)
  do {
    let v = x[to]
    let p = fcvt.f16((fcvt.f32(extract(v, 0)) - mean) * scale)
    let q = fcvt.f16((fcvt.f32(extract(v, 1)) - mean) * scale)
    y[to] = ffma(f16x2(p, q), g[m], b[m])
    to += 1
    m += 1
  } while m <_s n
}

; run: halu, ptx: @layernorm_h2 items=8 n=32 inv=0.015625 x=random(256, 101) g=random(32, 102) b=random(32, 103)
