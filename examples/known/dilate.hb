; Dilation by 3 by 3 pixels: the greatest of nine. Sixteen pixels an item, `w` items a row.
kernel @dilate_i8x16(%w: i32, %s: in i8x16, %d: out i8x16) {
^entry:
  %v1 = item_id
  %v2 = load %s[%v1]
  %v3 = load %s[%v1 + 1]
  %v4 = load %s[%v1 + 2]
  %v5 = add.i32 %v1, %w
  %v6 = load %s[%v5]
  %v7 = max_u.i8x16 %v2, %v6
  %v8 = load %s[%v5 + 1]
  %v9 = max_u.i8x16 %v3, %v8
  %v10 = load %s[%v5 + 2]
  %v11 = max_u.i8x16 %v4, %v10
  %v12 = add.i32 %v5, %w
  %v13 = load %s[%v12]
  %v14 = max_u.i8x16 %v7, %v13
  %v15 = load %s[%v12 + 1]
  %v16 = max_u.i8x16 %v9, %v15
  %v17 = load %s[%v12 + 2]
  %v18 = max_u.i8x16 %v11, %v17
  %v19 = shuffle.i8x16 %v14, %v16, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
  %v20 = shuffle.i8x16 %v16, %v18, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
  %v21 = max_u.i8x16 %v16, %v19
  %v22 = max_u.i8x16 %v21, %v20
  store %v22, %d[%v1]
  ret
}

; run: halu, vp1, ptx: @dilate_i8x16 items=800 w=8 s=random(1024, 101)
; run: halu, vp1, ptx: @dilate_i8x16 items=800 w=8 s=random(1024, 201)
