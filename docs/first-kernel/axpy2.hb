; y[i] = a * x[i] + y[i] on two halves at once, rounded once
kernel axpy2(a: f16x2, x: in f16x2, y: inout f16x2) {
  let i = item_id()
  y[i] = ffma(a, x[i], y[i])
}
; run: halu, ptx: @axpy2 items=2 a=2 x=[[1, 2], [3, 4]] y=[[10, 20], [30, 40]] -> y=[[12, 24], [36, 48]]
