; c = a b on complex numbers of two halves, the real part lowest. a.re multiplies b, and a.im multiplies
; i b, which is [-b.im, b.re]. The splats of a are operand selectors. Each item computes one number.
kernel @k07_h2_cmul(%a: in f16x2, %b: in f16x2, %c: out f16x2) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %re = shuffle.f16x2 %va, %va, [0, 0]
  %im = shuffle.f16x2 %va, %va, [1, 1]
  %minus = fneg.f16x2 %vb
  %ib = shuffle.f16x2 %minus, %vb, [1, 2]
  %cross = fmul.f16x2 %im, %ib
  %r = ffma.f16x2 %re, %vb, %cross
  store %r, %c[%i]
  ret
}

; run: halu, ptx: @k07_h2_cmul items=4 a=[[1, 2], [0, 1], [-0.5, 3], [100, 0.01]] b=[[3, 4], [0, 1], [2, -0.25], [0.3, -7]] c=zeros(4) -> c=[0x4900c500, 0x0000bc00, 0x4620b400, 0xe1784f85]
; run: halu, ptx: @k07_h2_cmul items=1000 a=random(1000, 12) b=random(1000, 13) c=zeros(1000)
