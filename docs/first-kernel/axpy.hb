; y[i] = a * x[i] + y[i]
kernel axpy(a: f32, x: in f32, y: inout f32) {
  let i = item_id()
  y[i] = a * x[i] + y[i]
}
; run: halu, vp1, ptx: @axpy items=3 a=2 x=[1, 2, 3] y=[10, 20, 30] -> y=[12, 24, 36]
; run: halu, vp1, ptx: @axpy items=1000 a=0.5 x=random(1000, 1) y=random(1000, 2)
