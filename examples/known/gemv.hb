; Matrix of halves times a vector: item i computes row i, of `n` words of two halves, with sums in f32.
kernel gemv_h2(n: i32, w: in f16x2, x: in f16x2, y: out f16) {
  var (k, even, odd) = (0, 0f32, 0f32)
  let i = item_id()
  var at = i * n
  do {
    let (a, b) = (w[at], x[k])
    even = ffma(fcvt.f32(extract(a, 0)), fcvt.f32(extract(b, 0)), even)
    odd = ffma(fcvt.f32(extract(a, 1)), fcvt.f32(extract(b, 1)), odd)
    at += 1
    k += 1
  } while k <_s n
  y[i] = fcvt(even + odd)
}

; run: halu, ptx: @gemv_h2 items=16 n=32 w=random(512, 101) x=random(32, 101)
; run: halu, ptx: @gemv_h2 items=16 n=32 w=random(512, 201) x=random(32, 201)
