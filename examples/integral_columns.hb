; The sums of the columns of a picture from the top to each row, the second half of an integral image. An item takes a column.
; Rows are `w` elements apart; indices are `wide`, for a picture of 2^30 elements and more has no others.
kernel @integral_col(%w: i32, %h: i32, %s: in i32, %o: out i32) {
^entry:
  %c2 = const.i32 0
  %c9 = const.i32 1
  %v1 = item_id
  br ^l1(%c2, %c2, %v1)
^l1(%v3: i32, %v4: i32, %v5: i32):
  %v6 = load %s[%v5 wide]
  %v7 = add.i32 %v4, %v6
  store %v7, %o[%v5 wide]
  %v8 = add.i32 %v5, %w
  %v10 = add.i32 %v3, %c9
  %v11 = icmp.lt_s.i32 %v10, %h
  br_if %v11, ^l1(%v10, %v7, %v8), ^d1
^d1:
  ret
}
; run: halu, ptx: @integral_col items=2 w=2 h=3 s=[1, -2, 3, 4, 2147483647, 5] o=zeros(6) -> o=[1, -2, 4, 2, -2147483645, 7]
; run: halu, ptx: @integral_col items=32 w=32 h=32 s=random(1024, 101) o=zeros(1024)
