; The vertical pass of VP8's inverse transform: item i takes two columns of four coefficients, words 4 i to 4 i + 3, a row a word.
kernel @vp8_idct(%c: in i16x2, %o: out i16x2) {
^entry:
  %c2 = const.i32 4
  %c10 = const.i16x2 -30068
  %c13 = const.i16x2 20091
  %v1 = item_id
  %v3 = mul.i32 %v1, %c2
  %v4 = load %c[%v3]
  %v5 = load %c[%v3 + 1]
  %v6 = load %c[%v3 + 2]
  %v7 = load %c[%v3 + 3]
  %v8 = add.i16x2 %v4, %v6
  %v9 = sub.i16x2 %v4, %v6
  %v11 = mul_hi_s.i16x2 %v5, %c10
  %v12 = add.i16x2 %v5, %v11
  %v14 = mul_hi_s.i16x2 %v7, %c13
  %v15 = add.i16x2 %v7, %v14
  %v16 = sub.i16x2 %v12, %v15
  %v17 = mul_hi_s.i16x2 %v5, %c13
  %v18 = add.i16x2 %v5, %v17
  %v19 = mul_hi_s.i16x2 %v7, %c10
  %v20 = add.i16x2 %v7, %v19
  %v21 = add.i16x2 %v18, %v20
  %v22 = add.i16x2 %v8, %v21
  %v23 = add.i16x2 %v9, %v16
  %v24 = sub.i16x2 %v9, %v16
  %v25 = sub.i16x2 %v8, %v21
  store %v22, %o[%v3]
  store %v23, %o[%v3 + 1]
  store %v24, %o[%v3 + 2]
  store %v25, %o[%v3 + 3]
  ret
}

; run: halu, vp1, ptx: @vp8_idct items=16 c=random(64, 101)
; run: halu, vp1, ptx: @vp8_idct items=16 c=random(64, 201)
