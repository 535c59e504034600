; axpy: y[i] = a * x[i] + y[i], the update step of linear algebra, on packed halves. A word holds two halves and an
; item takes one word. The multiply-add rounds once.
kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
^entry:
  %i  = item_id
  %xi = load %x[%i]
  %yi = load %y[%i]
  %r  = ffma.f16x2 %a, %xi, %yi ; refuse: vp1: cannot do `ffma.f16x2`: VP1 has no floating-point arithmetic
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @axpy items=2 a=2.0 x=[1.0, 3.0] y=[1.0, 0.0] -> y=[3.0, 6.0]
; run: halu, ptx: @axpy items=2 a=[2.0, -0.5] x=[[65504, 4], [inf, nan]] y=[[0, 1], [-inf, 0]] -> y=[[inf, -1], [nan, nan]]
; run: halu, ptx: @axpy items=1000 a=[-1.5, 0.33] x=random(1000, 1) y=random(1000, 2)

; A photograph, half again as bright.
; run: halu, ptx: @axpy items=2048 a=0.5 x=@chelsea-f16.npy y=@chelsea-f16.npy
