; Prefix sums of the rows of a picture, the first half of an integral image. Item i computes row i.
kernel integral_row(w: i32, s: in i8, o: out i32) {
  var (k, sum) = (0, 0)
  var at = item_id() * w
  do {
    sum += zext(s[at])
    o[at] = sum
    at += 1
    k += 1
  } while k <_s w
}

; run: halu, ptx: @integral_row items=128 w=128 s=random(16384, 101)
; run: vp1: @integral_row items=48 w=40 s=random(1920, 101)
