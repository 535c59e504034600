; BT.601 luma of planar RGB: 66 r + 129 g + 25 b, rounded, over 256, plus 16. Sixteen pixels an item.
kernel @rgb2y_601_v(%r: in i8x16, %g: in i8x16, %b: in i8x16, %y: out i8x16) {
^entry:
  %c4 = const.i16x16 66
  %c8 = const.i16x16 129
  %c13 = const.i16x16 25
  %c16 = const.i16x16 8
  %c19 = const.i8x16 16
  %v1 = item_id
  %v2 = load %r[%v1]
  %v3 = zext.i16x16 %v2
  %v5 = mul.i16x16 %v3, %c4
  %v6 = load %g[%v1]
  %v7 = zext.i16x16 %v6
  %v9 = mul.i16x16 %v7, %c8
  %v10 = add.i16x16 %v5, %v9
  %v11 = load %b[%v1]
  %v12 = zext.i16x16 %v11
  %v14 = mul.i16x16 %v12, %c13
  %v15 = add.i16x16 %v10, %v14
  %v17 = round_shr_u.i16x16 %v15, %c16
  %v18 = trunc.i8x16 %v17
  %v20 = add.i8x16 %v18, %c19
  store %v20, %y[%v1]
  ret
}

; run: halu, vp1, ptx: @rgb2y_601_v items=16 r=random(16, 101) g=random(16, 102) b=random(16, 103)
; run: halu, vp1, ptx: @rgb2y_601_v items=16 r=random(16, 201) g=random(16, 202) b=random(16, 203)
