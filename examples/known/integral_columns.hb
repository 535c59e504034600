; Prefix sums of the columns of a picture, the second half of an integral image. Item i computes column i.
kernel integral_col(w: i32, h: i32, s: in i32, o: out i32) {
  var (row, sum) = (0, 0)
  var at = item_id()
  do {
    sum += s[at]
    o[at] = sum
    at += w
    row += 1
  } while row <_s h
}

; run: halu, vp1, ptx: @integral_col items=128 w=128 h=128 s=random(16384, 101)
