; Prefix sums along the rows of a picture: the first half of an integral image. Item i takes row i.
kernel @integral_row(%w: i32, %s: in i8, %o: out i32) {
^entry:
  %c2 = const.i32 0
  %c10 = const.i32 1
  %v1 = item_id
  %v3 = mul.i32 %v1, %w
  br ^l1(%c2, %c2, %v3)
^l1(%v4: i32, %v5: i32, %v6: i32):
  %v7 = load %s[%v6]
  %v8 = zext.i32 %v7
  %v9 = add.i32 %v5, %v8
  store %v9, %o[%v6]
  %v11 = add.i32 %v6, %c10
  %v12 = add.i32 %v4, %c10
  %v13 = icmp.lt_s.i32 %v12, %w
  br_if %v13, ^l1(%v12, %v9, %v11), ^d1
^d1:
  ret
}

; run: halu, ptx: @integral_row items=128 w=128 s=random(16384, 101)
; run: vp1: @integral_row items=48 w=40 s=random(1920, 101)
