; Approximate matching by Myers's bit vectors: of a pattern of at most 32 letters, whose positions in the alphabet are words of `peq`, the least
; edit distance to an end anywhere in a text of `len` letters. Item i takes text i; `m1` is the number of the pattern's last letter.
kernel @myers(%len: i32, %m1: i32, %peq: in i32, %txt: in i8, %best: out i32) {
^entry:
  %c2 = const.i32 1
  %c4 = const.i32 -1
  %c5 = const.i32 0
  %v1 = item_id
  %v3 = add.i32 %m1, %c2
  %v6 = mul.i32 %v1, %len
  br ^l1(%c5, %c4, %c5, %v3, %v3, %v6)
^l1(%v7: i32, %v8: i32, %v9: i32, %v10: i32, %v11: i32, %v12: i32):
  %v13 = load %txt[%v12]
  %v14 = zext.i32 %v13
  %v15 = load %peq[%v14]
  %v16 = or.i32 %v15, %v9
  %v17 = and.i32 %v15, %v8
  %v18 = add.i32 %v17, %v8
  %v19 = xor.i32 %v18, %v8
  %v20 = or.i32 %v19, %v15
  %v21 = or.i32 %v20, %v8
  %v22 = not.i32 %v21
  %v23 = or.i32 %v9, %v22
  %v24 = and.i32 %v8, %v20
  %v25 = shr_u.i32 %v23, %m1
  %v26 = and.i32 %v25, %c2
  %v27 = add.i32 %v10, %v26
  %v28 = shr_u.i32 %v24, %m1
  %v29 = and.i32 %v28, %c2
  %v30 = sub.i32 %v27, %v29
  %v31 = shl.i32 %v23, %c2
  %v32 = shl.i32 %v24, %c2
  %v33 = or.i32 %v16, %v31
  %v34 = not.i32 %v33
  %v35 = or.i32 %v32, %v34
  %v36 = and.i32 %v31, %v16
  %v37 = min_s.i32 %v11, %v30
  %v38 = add.i32 %v12, %c2
  %v39 = add.i32 %v7, %c2
  %v40 = icmp.lt_s.i32 %v39, %len
  br_if %v40, ^l1(%v39, %v35, %v36, %v30, %v37, %v38), ^d1
^d1:
  store %v37, %best[%v1]
  ret
}

; run: halu, vp1, ptx: @myers items=4 len=50 m1=31 peq=random(256, 101) txt=random(200, 102)
