; A row of pixels scaled by linear interpolation: pixel i is at i times `step` in 16.16 fixed point, with 7 bits of the fraction.
kernel @bilinear_scale(%step: i32, %s: in i8, %d: out i8) {
^entry:
  %c3 = const.i32 16
  %c5 = const.i32 9
  %c7 = const.i32 127
  %c13 = const.i32 7
  %c18 = const.i32 64
  %v1 = item_id
  %v2 = mul.i32 %v1, %step
  %v4 = shr_u.i32 %v2, %c3
  %v6 = shr_u.i32 %v2, %c5
  %v8 = and.i32 %v6, %c7
  %v9 = load %s[%v4]
  %v10 = zext.i32 %v9
  %v11 = load %s[%v4 + 1]
  %v12 = zext.i32 %v11
  %v14 = shl.i32 %v10, %c13
  %v15 = sub.i32 %v12, %v10
  %v16 = mul.i32 %v15, %v8
  %v17 = add.i32 %v14, %v16
  %v19 = add.i32 %v17, %c18
  %v20 = shr_u.i32 %v19, %c13
  %v21 = trunc.i8 %v20
  store %v21, %d[%v1]
  ret
}

; run: halu, vp1, ptx: @bilinear_scale items=100 step=36864 s=random(64, 101)
