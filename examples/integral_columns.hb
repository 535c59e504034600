; Prefix sums of the columns of a picture, the second half of an integral image. Each item computes one column. Rows
; are `w` elements apart. The indices are `wide`, because a picture of 2^30 elements or more needs 64-bit offsets.
kernel integral_col(w: i32, h: i32, s: in i32, o: out i32) {
  var (row, sum) = (0, 0)
  var at = item_id()
  do {
    sum += s[at wide]
    o[at wide] = sum
    at += w
    row += 1
  } while row <_s h
}
; run: halu, ptx: @integral_col items=2 w=2 h=3 s=[1, -2, 3, 4, 2147483647, 5] o=zeros(6) -> o=[1, -2, 4, 2, -2147483645, 7]
; run: halu, ptx: @integral_col items=32 w=32 h=32 s=random(1024, 101) o=zeros(1024)
