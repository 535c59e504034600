; HEVC's half sample of luma between rows: eight taps, rounded, over 64. Sixteen pixels an item, `w` items a row.
kernel @hevc_8tap_v(%w: i32, %src: in i8x16, %dst: out i8x16) {
^entry:
  %c4 = const.i16x16 -1
  %c9 = const.i16x16 4
  %c15 = const.i16x16 -11
  %c21 = const.i16x16 40
  %c45 = const.i16x16 6
  %v1 = item_id
  %v2 = load %src[%v1]
  %v3 = zext.i16x16 %v2
  %v5 = mul.i16x16 %v3, %c4
  %v6 = add.i32 %v1, %w
  %v7 = load %src[%v6]
  %v8 = zext.i16x16 %v7
  %v10 = mul.i16x16 %v8, %c9
  %v11 = add.i16x16 %v5, %v10
  %v12 = add.i32 %v6, %w
  %v13 = load %src[%v12]
  %v14 = zext.i16x16 %v13
  %v16 = mul.i16x16 %v14, %c15
  %v17 = add.i16x16 %v11, %v16
  %v18 = add.i32 %v12, %w
  %v19 = load %src[%v18]
  %v20 = zext.i16x16 %v19
  %v22 = mul.i16x16 %v20, %c21
  %v23 = add.i16x16 %v17, %v22
  %v24 = add.i32 %v18, %w
  %v25 = load %src[%v24]
  %v26 = zext.i16x16 %v25
  %v27 = mul.i16x16 %v26, %c21
  %v28 = add.i16x16 %v23, %v27
  %v29 = add.i32 %v24, %w
  %v30 = load %src[%v29]
  %v31 = zext.i16x16 %v30
  %v32 = mul.i16x16 %v31, %c15
  %v33 = add.i16x16 %v28, %v32
  %v34 = add.i32 %v29, %w
  %v35 = load %src[%v34]
  %v36 = zext.i16x16 %v35
  %v37 = mul.i16x16 %v36, %c9
  %v38 = add.i16x16 %v33, %v37
  %v39 = add.i32 %v34, %w
  %v40 = load %src[%v39]
  %v41 = zext.i16x16 %v40
  %v42 = mul.i16x16 %v41, %c4
  %v43 = add.i16x16 %v38, %v42
  %v44 = add.i32 %v39, %w
  %v46 = round_shr_s.i16x16 %v43, %c45
  %v47 = narrow_sat_u.i8x16 %v46
  store %v47, %dst[%v1]
  ret
}

; run: halu, vp1, ptx: @hevc_8tap_v items=800 w=8 src=random(1024, 103)
