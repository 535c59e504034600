; Premultiplied source over destination, as Skia and pixman round it: x / 255 exactly, by (t + (t >> 8)) >> 8 with t = x + 128. A pixel a word.
kernel @blend_premul(%src: in i8x4, %dst: inout i8x4) {
^entry:
  %c4 = const.i8x4 0
  %c12 = const.i16x2 128
  %c14 = const.i16x2 8
  %v1 = item_id
  %v2 = load %src[%v1]
  %v3 = load %dst[%v1]
  %v5 = shuffle.i8x4 %v2, %v2, [3, 3, 3, 3]
  %v6 = not.i8x4 %v5
  %v7 = shuffle.i8x4 %v3, %c4, [0, 4, 1, 4]
  %v8 = bitcast.i16x2 %v7
  %v9 = shuffle.i8x4 %v6, %c4, [0, 4, 1, 4]
  %v10 = bitcast.i16x2 %v9
  %v11 = mul.i16x2 %v8, %v10
  %v13 = add.i16x2 %v11, %c12
  %v15 = shr_u.i16x2 %v13, %c14
  %v16 = add.i16x2 %v13, %v15
  %v17 = shr_u.i16x2 %v16, %c14
  %v18 = bitcast.i8x4 %v17
  %v19 = shuffle.i8x4 %v3, %c4, [2, 4, 3, 4]
  %v20 = bitcast.i16x2 %v19
  %v21 = shuffle.i8x4 %v6, %c4, [2, 4, 3, 4]
  %v22 = bitcast.i16x2 %v21
  %v23 = mul.i16x2 %v20, %v22
  %v24 = add.i16x2 %v23, %c12
  %v25 = shr_u.i16x2 %v24, %c14
  %v26 = add.i16x2 %v24, %v25
  %v27 = shr_u.i16x2 %v26, %c14
  %v28 = bitcast.i8x4 %v27
  %v29 = shuffle.i8x4 %v18, %v28, [0, 2, 4, 6]
  %v30 = add_sat_u.i8x4 %v2, %v29
  store %v30, %dst[%v1]
  ret
}

; run: halu, vp1, ptx: @blend_premul items=256 src=random(256, 103) dst=random(256, 104)
