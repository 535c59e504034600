; Product of an int8 matrix and a vector. Each item computes a row of 64 numbers.
kernel dot_int8(rows: in i8x4, x: in i8x4, y: out i32) {
  let i = item_id()
  var sum = 0
  unroll for k in 0..16 { sum = dot4_s(rows[16 * i + k], x[k], sum) }
  y[i] = sum
}
; run: halu, ptx: @dot_int8 items=64 rows=random(1024, 1) x=random(16, 2) y=zeros(64)
