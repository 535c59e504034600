; Prefix sums down the columns of a picture: the second half of an integral image. Item i takes column i.
kernel @integral_col(%w: i32, %h: i32, %s: in i32, %o: out i32) {
^entry:
  %c2 = const.i32 0
  %c9 = const.i32 1
  %v1 = item_id
  br ^l1(%c2, %c2, %v1)
^l1(%v3: i32, %v4: i32, %v5: i32):
  %v6 = load %s[%v5]
  %v7 = add.i32 %v4, %v6
  store %v7, %o[%v5]
  %v8 = add.i32 %v5, %w
  %v10 = add.i32 %v3, %c9
  %v11 = icmp.lt_s.i32 %v10, %h
  br_if %v11, ^l1(%v10, %v7, %v8), ^d1
^d1:
  ret
}

; run: halu, vp1, ptx: @integral_col items=128 w=128 h=128 s=random(16384, 101)
