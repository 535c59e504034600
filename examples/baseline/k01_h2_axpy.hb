; axpy on packed halves: y = a x + y. Each item computes a word of two. The multiply-add rounds once.
kernel @k01_h2_axpy(%x: in f16x2, %y: inout f16x2, %a: f16x2) {
^entry:
  %i = item_id
  %vx = load %x[%i]
  %vy = load %y[%i]
  %r = ffma.f16x2 %a, %vx, %vy
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k01_h2_axpy items=4 x=[[1, 3], [65504, -2], [inf, 0.1], [-0, 0.00000006]] y=[[1, 0], [4, 4], [-inf, 100], [-0, 1]] a=[2, -0.5] -> y=[0xbe004200, 0x45007c00, 0x563f7fff, 0x3c008000]
; run: halu, ptx: @k01_h2_axpy items=1000 x=random(1000, 1) y=random(1000, 2) a=[-1.5, 0.33]
