; Mean of each pixel and its eight neighbours, rounded to nearest, for a picture of w by h bytes whose border pixels are repeated. A
; group of 16 by 8 items holds its pixels and their neighbours, 18 by 10, in shared memory; the grid covers the picture. The sum of
; nine pixels plus 4, for rounding, is at most 2299; for such numbers, the product with 7282 divided by 2^16 is the quotient by 9.
kernel box_filter(w: i32, h: i32, x: in i8, y: out i8) {
  shared tile: i8[180]
  let (l, u, v) = (local_id(), local_id.x(), local_id.y())
  let (gx, gy, col, row, size) = (group_id.x(), group_id.y(), item_id.x(), item_id.y(), group_size())
  let (last_col, last_row) = (w - 1, h - 1)
  let left = gx * 16 - 1
  let top = gy * 8 - 1
  var p = l
  do {
    let (tv, tu) = (p /_u 18, rem_u(p, 18))
    let (px, py) = (left + tu, top + tv)
    let (px1, py1) = (max_s(px, 0), max_s(py, 0))
    let (px2, py2) = (min_s(px1, last_col), min_s(py1, last_row))
    tile[p] = x[py2 * w + px2 wide]
    p += size
  } while p <_u 180
  barrier()
  if (col <_u w) & (row <_u h) {
    let t = v * 18 + u
    var b: i8[9]
    unroll for r in 0..3 { unroll for c in 0..3 { b[r * 3 + c] = tile[t + (r * 18 + c)] } }
    var sum = zext.i32(b[0])
    unroll for k in 1..9 { sum += zext(b[k]) }
    y[row * w + col wide] = trunc((sum + 4) * 7282 >>_u 16)
  }
}
; run: halu, ptx: @box_filter grid=3,4 block=16,8 w=37 h=29 x=random(1073, 25) y=zeros(1073)
; run: halu, ptx: @box_filter grid=1,1 block=16,8 w=1 h=1 x=[77] -> y=[77]
; run: halu, ptx: @box_filter grid=2,2 block=16,8 w=18 h=9 x=[105, 255, 255, 255, 13, 255, 255, 0, 0, 0, 255, 255, 0, 104, 45, 57, 0, 197, 255, 0, 81, 0, 0, 223, 91, 209, 255, 0, 255, 26, 0, 255, 255, 255, 144, 255, 143, 0, 0, 0, 0, 112, 0, 255, 226, 0, 0, 0, 255, 0, 1, 0, 255, 0, 0, 0, 0, 0, 255, 255, 255, 178, 0, 75, 81, 86, 0, 0, 255, 0, 0, 255, 255, 255, 41, 255, 86, 255, 0, 231, 73, 22, 0, 255, 255, 255, 255, 97, 255, 255, 255, 0, 255, 113, 97, 0, 0, 255, 255, 255, 255, 250, 0, 0, 250, 0, 0, 215, 255, 0, 0, 255, 255, 0, 79, 0, 255, 86, 0, 0, 0, 0, 33, 255, 0, 28, 255, 105, 230, 0, 229, 0, 123, 39, 219, 255, 0, 255, 0, 255, 0, 255, 10, 0, 141, 0, 255, 0, 0, 255, 0, 255, 0, 0, 255, 43, 90, 248, 239, 255, 9, 173] -> y=[160, 174, 179, 125, 141, 151, 171, 118, 52, 113, 145, 145, 111, 90, 131, 95, 129, 160, 140, 122, 94, 67, 95, 105, 156, 143, 105, 110, 88, 116, 99, 102, 108, 112, 129, 145, 88, 53, 9, 37, 94, 132, 175, 163, 133, 99, 58, 78, 69, 113, 113, 129, 129, 158, 117, 77, 61, 71, 135, 135, 171, 135, 118, 53, 58, 104, 123, 142, 96, 124, 124, 170, 142, 118, 102, 122, 146, 134, 159, 139, 149, 113, 142, 131, 122, 141, 124, 124, 120, 189, 198, 146, 130, 151, 146, 86, 91, 128, 159, 133, 125, 113, 113, 116, 127, 127, 123, 139, 182, 151, 106, 159, 105, 87, 55, 136, 180, 176, 151, 84, 84, 60, 116, 89, 85, 55, 156, 138, 94, 136, 110, 105, 83, 108, 123, 119, 99, 71, 99, 96, 171, 117, 109, 47, 131, 154, 94, 108, 82, 96, 131, 99, 114, 109, 123, 115, 141, 157, 222, 141, 127, 80]
