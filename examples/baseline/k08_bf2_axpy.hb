; axpy on packed bfloat16: y = a x + y. Each item computes a word of two. The multiply-add rounds once.
kernel @k08_bf2_axpy(%x: in bf16x2, %y: inout bf16x2, %a: bf16x2) {
^entry:
  %i = item_id
  %vx = load %x[%i]
  %vy = load %y[%i]
  %r = ffma.bf16x2 %a, %vx, %vy
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k08_bf2_axpy items=3 x=[0x40403f80, 0xc0003eab, 0x3dcd447a] y=[0x00003f80, 0x40804080, 0xc2c83f80] a=[2, -0.5] -> y=[0xbfc04040, 0x40a04095, 0xc2c844fa]
; run: halu, ptx: @k08_bf2_axpy items=1000 x=random(1000, 14) y=random(1000, 15) a=[-1.5, 0.33]
