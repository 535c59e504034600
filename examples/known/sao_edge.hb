; HEVC's sample adaptive offset of edges in vertical direction, with offsets 2, 1, 0, -1, -2. Four pixels an item, `w` words a row.
kernel @sao_i8x4(%w: i32, %src: in i8x4, %dst: out i8x4) {
^entry:
  %c8 = const.i8x4 -1
  %c10 = const.i8x4 1
  %c11 = const.i8x4 0
  %c19 = const.i8x4 -2
  %c21 = const.i8x4 6
  %c23 = const.i8x4 3
  %c25 = const.i8x4 -3
  %c26 = const.i8x4 2
  %c28 = const.i8x4 -6
  %v1 = item_id
  %v2 = load %src[%v1]
  %v3 = add.i32 %v1, %w
  %v4 = load %src[%v3]
  %v5 = add.i32 %v3, %w
  %v6 = load %src[%v5]
  %v7 = icmp.lt_u.i8x4 %v4, %v2
  %v9 = icmp.gt_u.i8x4 %v4, %v2
  %v12 = select.i8x4 %v9, %c10, %c11
  %v13 = select.i8x4 %v7, %c8, %v12
  %v14 = icmp.lt_u.i8x4 %v4, %v6
  %v15 = icmp.gt_u.i8x4 %v4, %v6
  %v16 = select.i8x4 %v15, %c10, %c11
  %v17 = select.i8x4 %v14, %c8, %v16
  %v18 = add.i8x4 %v13, %v17
  %v20 = icmp.eq.i8x4 %v18, %c19
  %v22 = icmp.eq.i8x4 %v18, %c8
  %v24 = icmp.eq.i8x4 %v18, %c10
  %v27 = icmp.eq.i8x4 %v18, %c26
  %v29 = select.i8x4 %v27, %c28, %c11
  %v30 = select.i8x4 %v24, %c25, %v29
  %v31 = select.i8x4 %v22, %c23, %v30
  %v32 = select.i8x4 %v20, %c21, %v31
  %v33 = max_s.i8x4 %v32, %c11
  %v34 = neg.i8x4 %v32
  %v35 = max_s.i8x4 %v34, %c11
  %v36 = add_sat_u.i8x4 %v4, %v33
  %v37 = sub_sat_u.i8x4 %v36, %v35
  store %v37, %dst[%v1]
  ret
}

; run: halu, vp1, ptx: @sao_i8x4 items=3200 w=32 src=random(4096, 103)
