; The first place of a byte in a row of `n` words, four bytes at a time, or -1; the loop ends where it is found.
kernel @memchr(%c: i8, %n: i32, %s: in i8x4, %at: out i32) {
^entry:
  %c4 = const.i32 0
  %c5 = const.i32 1
  %c19 = const.i32 256
  %c21 = const.i32 65536
  %c23 = const.i32 2
  %c24 = const.i32 3
  %c30 = const.i32 -1
  %v1 = item_id
  %v2 = splat.i8x4 %c
  %v3 = mul.i32 %v1, %n
  br ^scan(%c4, %v3)
^scan(%v6: i32, %v7: i32):
  %v8 = load %s[%v7]
  %v9 = icmp.eq.i8x4 %v8, %v2
  %v10 = any.i1x4 %v9
  br_if %v10, ^found, ^next
^next:
  %v11 = add.i32 %v6, %c5
  %v12 = add.i32 %v7, %c5
  %v13 = icmp.lt_s.i32 %v11, %n
  br_if %v13, ^scan(%v11, %v12), ^none
^found:
  %v14 = mask_expand.i8x4 %v9
  %v15 = bitcast.i32 %v14
  %v16 = neg.i32 %v15
  %v17 = and.i32 %v15, %v16
  %v18 = icmp.eq.i32 %v17, %c5
  %v20 = icmp.eq.i32 %v17, %c19
  %v22 = icmp.eq.i32 %v17, %c21
  %v25 = select.i32 %v22, %c23, %c24
  %v26 = select.i32 %v20, %c5, %v25
  %v27 = select.i32 %v18, %c4, %v26
  %v28 = shl.i32 %v6, %c23
  %v29 = add.i32 %v28, %v27
  store %v29, %at[%v1]
  ret
^none:
  store %c30, %at[%v1]
  ret
}

; run: halu, vp1, ptx: @memchr items=16 c=77 n=16 s=random(256, 101)
; run: halu, vp1, ptx: @memchr items=16 c=77 n=16 s=random(256, 201)
