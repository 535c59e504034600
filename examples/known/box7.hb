; A box filter of seven rows by a running sum, divided by 7 exactly: times 9363, over 2^16. Item i takes column i of `h` rows of `w` pixels.
kernel @box7(%w: i32, %h: i32, %s: in i8, %d: out i8) {
^entry:
  %c25 = const.i32 0
  %c34 = const.i32 3
  %c36 = const.i32 9363
  %c38 = const.i32 16
  %c47 = const.i32 1
  %v1 = item_id
  %v2 = load %s[%v1]
  %v3 = zext.i32 %v2
  %v4 = add.i32 %v1, %w
  %v5 = load %s[%v4]
  %v6 = zext.i32 %v5
  %v7 = add.i32 %v3, %v6
  %v8 = add.i32 %v4, %w
  %v9 = load %s[%v8]
  %v10 = zext.i32 %v9
  %v11 = add.i32 %v7, %v10
  %v12 = add.i32 %v8, %w
  %v13 = load %s[%v12]
  %v14 = zext.i32 %v13
  %v15 = add.i32 %v11, %v14
  %v16 = add.i32 %v12, %w
  %v17 = load %s[%v16]
  %v18 = zext.i32 %v17
  %v19 = add.i32 %v15, %v18
  %v20 = add.i32 %v16, %w
  %v21 = load %s[%v20]
  %v22 = zext.i32 %v21
  %v23 = add.i32 %v19, %v22
  %v24 = add.i32 %v20, %w
  br ^l1(%c25, %v23, %v1, %v24, %v1)
^l1(%v26: i32, %v27: i32, %v28: i32, %v29: i32, %v30: i32):
  %v31 = load %s[%v29]
  %v32 = zext.i32 %v31
  %v33 = add.i32 %v27, %v32
  %v35 = add.i32 %v33, %c34
  %v37 = mul.i32 %v35, %c36
  %v39 = shr_u.i32 %v37, %c38
  %v40 = trunc.i8 %v39
  store %v40, %d[%v30]
  %v41 = load %s[%v28]
  %v42 = zext.i32 %v41
  %v43 = sub.i32 %v33, %v42
  %v44 = add.i32 %v28, %w
  %v45 = add.i32 %v29, %w
  %v46 = add.i32 %v30, %w
  %v48 = add.i32 %v26, %c47
  %v49 = icmp.lt_s.i32 %v48, %h
  br_if %v49, ^l1(%v48, %v43, %v44, %v45, %v46), ^d1
^d1:
  ret
}

; run: halu, vp1, ptx: @box7 items=128 w=128 h=100 s=random(16384, 101)
