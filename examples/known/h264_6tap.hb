; H.264's half sample between rows: six taps, 1 -5 20 20 -5 1, rounded, over 32. Sixteen pixels an item, `w` items a row.
kernel @h264_6tap_v(%w: i32, %src: in i8x16, %dst: out i8x16) {
^entry:
  %c22 = const.i16x16 5
  %c26 = const.i16x16 20
  %v1 = item_id
  %v2 = load %src[%v1]
  %v3 = zext.i16x16 %v2
  %v4 = add.i32 %v1, %w
  %v5 = load %src[%v4]
  %v6 = zext.i16x16 %v5
  %v7 = add.i32 %v4, %w
  %v8 = load %src[%v7]
  %v9 = zext.i16x16 %v8
  %v10 = add.i32 %v7, %w
  %v11 = load %src[%v10]
  %v12 = zext.i16x16 %v11
  %v13 = add.i32 %v10, %w
  %v14 = load %src[%v13]
  %v15 = zext.i16x16 %v14
  %v16 = add.i32 %v13, %w
  %v17 = load %src[%v16]
  %v18 = zext.i16x16 %v17
  %v19 = add.i32 %v16, %w
  %v20 = add.i16x16 %v3, %v18
  %v21 = add.i16x16 %v6, %v15
  %v23 = mul.i16x16 %v21, %c22
  %v24 = sub.i16x16 %v20, %v23
  %v25 = add.i16x16 %v9, %v12
  %v27 = mul.i16x16 %v25, %c26
  %v28 = add.i16x16 %v24, %v27
  %v29 = round_shr_s.i16x16 %v28, %c22
  %v30 = narrow_sat_u.i8x16 %v29
  store %v30, %dst[%v1]
  ret
}

; run: halu, vp1, ptx: @h264_6tap_v items=800 w=8 src=random(1024, 103)
