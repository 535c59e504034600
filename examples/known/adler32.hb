; Adler-32: item i takes a message of `len` bytes. What is left modulo 65521 comes of an upper half of a product.
kernel @adler32(%len: i32, %m: in i8, %o: out i32) {
^entry:
  %c2 = const.i32 1
  %c3 = const.i32 0
  %c16 = const.i32 2147975281
  %c18 = const.i32 15
  %c20 = const.i32 65521
  %c23 = const.i32 16
  %v1 = item_id
  %v4 = mul.i32 %v1, %len
  br ^l1(%c3, %c2, %c3, %v4)
^l1(%v5: i32, %v6: i32, %v7: i32, %v8: i32):
  %v9 = load %m[%v8]
  %v10 = zext.i32 %v9
  %v11 = add.i32 %v6, %v10
  %v12 = add.i32 %v7, %v11
  %v13 = add.i32 %v8, %c2
  %v14 = add.i32 %v5, %c2
  %v15 = icmp.lt_s.i32 %v14, %len
  br_if %v15, ^l1(%v14, %v11, %v12, %v13), ^d1
^d1:
  %v17 = mul_hi_u.i32 %v12, %c16
  %v19 = shr_u.i32 %v17, %c18
  %v21 = mul.i32 %v19, %c20
  %v22 = sub.i32 %v12, %v21
  %v24 = shl.i32 %v22, %c23
  %v25 = mul_hi_u.i32 %v11, %c16
  %v26 = shr_u.i32 %v25, %c18
  %v27 = mul.i32 %v26, %c20
  %v28 = sub.i32 %v11, %v27
  %v29 = or.i32 %v24, %v28
  store %v29, %o[%v1]
  ret
}

; run: halu, ptx: @adler32 items=8 len=1000 m=random(8000, 101)
; run: vp1: @adler32 items=8 len=200 m=random(1600, 101)
