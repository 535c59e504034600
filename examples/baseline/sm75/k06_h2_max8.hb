; Maximum of eight words of halves by comparisons, for GPUs without a maximum of
; halves. A comparison with NaN is false, and -0 is not below +0. The result for NaN
; and zeros therefore depends on the order of the words; ../k06_h2_max8.hb is exact.
kernel @k06_h2_max8(%x: in f16x2 align 16, %y: out f16x2) {
^entry:
  %i = item_id
  %eight = const.i32 8
  %j = mul.i32 %i, %eight
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]
  %v4 = load %x[%j + 4]
  %v5 = load %x[%j + 5]
  %v6 = load %x[%j + 6]
  %v7 = load %x[%j + 7]
  %c0 = fcmp.gt.f16x2 %v0, %v1
  %m0 = select.f16x2 %c0, %v0, %v1
  %c1 = fcmp.gt.f16x2 %v2, %v3
  %m1 = select.f16x2 %c1, %v2, %v3
  %c2 = fcmp.gt.f16x2 %v4, %v5
  %m2 = select.f16x2 %c2, %v4, %v5
  %c3 = fcmp.gt.f16x2 %v6, %v7
  %m3 = select.f16x2 %c3, %v6, %v7
  %c4 = fcmp.gt.f16x2 %m0, %m1
  %m4 = select.f16x2 %c4, %m0, %m1
  %c5 = fcmp.gt.f16x2 %m2, %m3
  %m5 = select.f16x2 %c5, %m2, %m3
  %c6 = fcmp.gt.f16x2 %m4, %m5
  %r = select.f16x2 %c6, %m4, %m5
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k06_h2_max8 items=2 x=[[1, -1], [2, -2], [3, -3], [-4, -0.5], [0.5, -8], [9, -9], [-1, -10], [2.5, -7], [-0, nan], [0, 1], [-0, 2], [-1, 3], [-0, 4], [-5, 5], [2, 6], [-0, 7]] y=zeros(2) -> y=[[9, -0.5], [2, 7]]
; run: halu, ptx: @k06_h2_max8 items=1000 x=random(8000, 11) y=zeros(1000)
