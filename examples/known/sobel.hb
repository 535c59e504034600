; Sobel's magnitude |gx| + |gy|, clamped. Sixteen pixels an item, `w` items a row; ends of rows meet the next row.
kernel @sobel_v2(%w: i32, %s: in i8x16, %d: out i8x16) {
^entry:
  %c30 = const.i16x16 2
  %v1 = item_id
  %v2 = load %s[%v1]
  %v3 = load %s[%v1 + 1]
  %v4 = load %s[%v1 + 2]
  %v5 = shuffle.i8x16 %v2, %v3, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
  %v6 = shuffle.i8x16 %v3, %v4, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  %v7 = zext.i16x16 %v5
  %v8 = zext.i16x16 %v3
  %v9 = zext.i16x16 %v6
  %v10 = add.i32 %v1, %w
  %v11 = load %s[%v10]
  %v12 = load %s[%v10 + 1]
  %v13 = load %s[%v10 + 2]
  %v14 = shuffle.i8x16 %v11, %v12, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
  %v15 = shuffle.i8x16 %v12, %v13, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  %v16 = zext.i16x16 %v14
  %v17 = zext.i16x16 %v12
  %v18 = zext.i16x16 %v15
  %v19 = add.i32 %v10, %w
  %v20 = load %s[%v19]
  %v21 = load %s[%v19 + 1]
  %v22 = load %s[%v19 + 2]
  %v23 = shuffle.i8x16 %v20, %v21, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
  %v24 = shuffle.i8x16 %v21, %v22, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  %v25 = zext.i16x16 %v23
  %v26 = zext.i16x16 %v21
  %v27 = zext.i16x16 %v24
  %v28 = sub.i16x16 %v9, %v7
  %v29 = sub.i16x16 %v18, %v16
  %v31 = mul.i16x16 %v29, %c30
  %v32 = add.i16x16 %v28, %v31
  %v33 = sub.i16x16 %v27, %v25
  %v34 = add.i16x16 %v32, %v33
  %v35 = sub.i16x16 %v25, %v7
  %v36 = sub.i16x16 %v26, %v8
  %v37 = mul.i16x16 %v36, %c30
  %v38 = add.i16x16 %v35, %v37
  %v39 = sub.i16x16 %v27, %v9
  %v40 = add.i16x16 %v38, %v39
  %v41 = sub.i16x16 %v7, %v9
  %v42 = sub.i16x16 %v16, %v18
  %v43 = mul.i16x16 %v42, %c30
  %v44 = add.i16x16 %v41, %v43
  %v45 = sub.i16x16 %v25, %v27
  %v46 = add.i16x16 %v44, %v45
  %v47 = sub.i16x16 %v7, %v25
  %v48 = sub.i16x16 %v8, %v26
  %v49 = mul.i16x16 %v48, %c30
  %v50 = add.i16x16 %v47, %v49
  %v51 = sub.i16x16 %v9, %v27
  %v52 = add.i16x16 %v50, %v51
  %v53 = narrow_sat_u.i8x16 %v34
  %v54 = narrow_sat_u.i8x16 %v46
  %v55 = add_sat_u.i8x16 %v53, %v54
  %v56 = narrow_sat_u.i8x16 %v40
  %v57 = add_sat_u.i8x16 %v55, %v56
  %v58 = narrow_sat_u.i8x16 %v52
  %v59 = add_sat_u.i8x16 %v57, %v58
  store %v59, %d[%v1]
  ret
}

; run: halu, vp1, ptx: @sobel_v2 items=800 w=8 s=random(1024, 101)
; run: halu, vp1, ptx: @sobel_v2 items=800 w=8 s=random(1024, 201)
