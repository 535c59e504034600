; UTF-8 validated by Keiser and Lemire's three tables of 16 entries: item i takes the 16 bytes of block i + 1, with the end of block i before them,
; and says by a byte whether they are wrong.
kernel @utf8_kl(%s: in i8x16, %err: out i8) {
^entry:
  %c7 = const.i8x16 [2,2,2,2,2,2,2,2,128,128,128,128,33,1,21,73]
  %c8 = const.i8x16 4
  %c11 = const.i8x16 [231,163,131,131,139,203,203,203,203,203,203,203,203,219,203,203]
  %c12 = const.i8x16 15
  %c16 = const.i8x16 [1,1,1,1,1,1,1,1,230,174,186,186,1,1,1,1]
  %c20 = const.i8x16 96
  %c22 = const.i8x16 112
  %c25 = const.i8x16 128
  %c28 = const.i8x16 0
  %c31 = const.i8 1
  %c32 = const.i8 0
  %v1 = item_id
  %v2 = load %s[%v1]
  %v3 = load %s[%v1 + 1]
  %v4 = shuffle.i8x16 %v2, %v3, [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
  %v5 = shuffle.i8x16 %v2, %v3, [14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]
  %v6 = shuffle.i8x16 %v2, %v3, [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28]
  %v9 = shr_u.i8x16 %v4, %c8
  %v10 = swizzle.i8x16 %c7, %v9
  %v13 = and.i8x16 %v4, %c12
  %v14 = swizzle.i8x16 %c11, %v13
  %v15 = and.i8x16 %v10, %v14
  %v17 = shr_u.i8x16 %v3, %c8
  %v18 = swizzle.i8x16 %c16, %v17
  %v19 = and.i8x16 %v15, %v18
  %v21 = sub_sat_u.i8x16 %v5, %c20
  %v23 = sub_sat_u.i8x16 %v6, %c22
  %v24 = or.i8x16 %v21, %v23
  %v26 = and.i8x16 %v24, %c25
  %v27 = xor.i8x16 %v26, %v19
  %v29 = icmp.ne.i8x16 %v27, %c28
  %v30 = any.i1x16 %v29
  %v33 = select.i8 %v30, %c31, %c32
  store %v33, %err[%v1]
  ret
}

; run: halu, vp1, ptx: @utf8_kl items=34 s=random(35, 101)
; run: halu, vp1, ptx: @utf8_kl items=34 s=random(35, 201)
