; The same of patterns of 64 letters.
kernel @myers64(%len: i32, %peq: in i64, %txt: in i8, %best: out i32) {
^entry:
  %c2 = const.i64 -1
  %c3 = const.i64 0
  %c4 = const.i32 64
  %c6 = const.i32 0
  %c25 = const.i64 63
  %c32 = const.i64 1
  %c40 = const.i32 1
  %v1 = item_id
  %v5 = mul.i32 %v1, %len
  br ^l1(%c6, %c2, %c3, %c4, %c4, %v5)
^l1(%v7: i32, %v8: i64, %v9: i64, %v10: i32, %v11: i32, %v12: i32):
  %v13 = load %txt[%v12]
  %v14 = zext.i32 %v13
  %v15 = load %peq[%v14]
  %v16 = or.i64 %v15, %v9
  %v17 = and.i64 %v15, %v8
  %v18 = add.i64 %v17, %v8
  %v19 = xor.i64 %v18, %v8
  %v20 = or.i64 %v19, %v15
  %v21 = or.i64 %v20, %v8
  %v22 = not.i64 %v21
  %v23 = or.i64 %v9, %v22
  %v24 = and.i64 %v8, %v20
  %v26 = shr_u.i64 %v23, %c25
  %v27 = trunc.i32 %v26
  %v28 = add.i32 %v10, %v27
  %v29 = shr_u.i64 %v24, %c25
  %v30 = trunc.i32 %v29
  %v31 = sub.i32 %v28, %v30
  %v33 = shl.i64 %v23, %c32
  %v34 = shl.i64 %v24, %c32
  %v35 = or.i64 %v16, %v33
  %v36 = not.i64 %v35
  %v37 = or.i64 %v34, %v36
  %v38 = and.i64 %v33, %v16
  %v39 = min_s.i32 %v11, %v31
  %v41 = add.i32 %v12, %c40
  %v42 = add.i32 %v7, %c40
  %v43 = icmp.lt_s.i32 %v42, %len
  br_if %v43, ^l1(%v42, %v37, %v38, %v31, %v39, %v41), ^d1
^d1:
  store %v39, %best[%v1]
  ret
}

; run: halu, ptx: @myers64 items=4 len=50 peq=random(256, 101) txt=random(200, 102)
