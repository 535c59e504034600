; Maximum of eight words of halves, lane by lane: a step of max pooling. -0 is below +0, and
; the result is NaN only if all operands are NaN. Each item reads eight consecutive words.
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
  %m0 = fmax.f16x2 %v0, %v1
  %m1 = fmax.f16x2 %v2, %v3
  %m2 = fmax.f16x2 %v4, %v5
  %m3 = fmax.f16x2 %v6, %v7
  %m4 = fmax.f16x2 %m0, %m1
  %m5 = fmax.f16x2 %m2, %m3
  %r = fmax.f16x2 %m4, %m5
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k06_h2_max8 items=2 x=[[1, -1], [2, -2], [3, -3], [-4, -0.5], [0.5, -8], [nan, -9], [-1, -10], [2.5, -7], [-0, nan], [0, nan], [-0, nan], [-1, nan], [-0, nan], [-5, nan], [nan, nan], [-0, nan]] y=zeros(2) -> y=[[3, -0.5], [0, nan]]
; run: halu, ptx: @k06_h2_max8 items=1000 x=random(8000, 11) y=zeros(1000)
