; AV1's constrained directional enhancement in one direction: differences to neighbours, held back above a threshold. Four pixels an item.
kernel @cdef_c(%w: i32, %thr: i8, %src: in i8x4, %dst: out i8x4) {
^entry:
  %c9 = const.i8x4 1
  %c26 = const.i8x4 8
  %c28 = const.i8x4 0
  %c30 = const.i8x4 -1
  %c33 = const.i8x4 4
  %v1 = item_id
  %v2 = load %src[%v1]
  %v3 = add.i32 %v1, %w
  %v4 = load %src[%v3]
  %v5 = add.i32 %v3, %w
  %v6 = load %src[%v5]
  %v7 = splat.i8x4 %thr
  %v8 = absdiff_u.i8x4 %v2, %v4
  %v10 = shr_u.i8x4 %v8, %c9
  %v11 = sub_sat_u.i8x4 %v7, %v10
  %v12 = min_u.i8x4 %v8, %v11
  %v13 = icmp.lt_u.i8x4 %v2, %v4
  %v14 = neg.i8x4 %v12
  %v15 = select.i8x4 %v13, %v14, %v12
  %v16 = absdiff_u.i8x4 %v6, %v4
  %v17 = shr_u.i8x4 %v16, %c9
  %v18 = sub_sat_u.i8x4 %v7, %v17
  %v19 = min_u.i8x4 %v16, %v18
  %v20 = icmp.lt_u.i8x4 %v6, %v4
  %v21 = neg.i8x4 %v19
  %v22 = select.i8x4 %v20, %v21, %v19
  %v23 = add.i8x4 %v15, %v22
  %v24 = add.i8x4 %v23, %v23
  %v25 = add.i8x4 %v24, %v23
  %v27 = add.i8x4 %v25, %c26
  %v29 = icmp.lt_s.i8x4 %v25, %c28
  %v31 = select.i8x4 %v29, %c30, %c28
  %v32 = add.i8x4 %v27, %v31
  %v34 = shr_s.i8x4 %v32, %c33
  %v35 = add.i8x4 %v4, %v34
  %v36 = max_u.i8x4 %v2, %v6
  %v37 = max_u.i8x4 %v36, %v4
  %v38 = min_u.i8x4 %v35, %v37
  %v39 = min_u.i8x4 %v2, %v6
  %v40 = min_u.i8x4 %v39, %v4
  %v41 = max_u.i8x4 %v38, %v40
  store %v41, %dst[%v1]
  ret
}

; run: halu, vp1, ptx: @cdef_c items=3200 w=32 thr=12 src=random(4096, 103)
