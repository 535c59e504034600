; The mean of each pixel and its eight neighbours, rounded to nearest, of a picture of w by h bytes whose border pixels go on beyond it. A group of
; 16 by 8 items has its pixels and those around them, 18 by 10, in shared memory; the grid covers the picture. The sum of nine, and 4 that
; rounds, is at most 2299: times 7282 over 2^16 is the quotient by 9.
kernel @box_filter(%w: i32, %h: i32, %x: in i8, %y: out i8) {
  shared %tile: i8[180]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %c16 = const.i32 16
  %c8 = const.i32 8
  %c18 = const.i32 18
  %c180 = const.i32 180
  %four = const.i32 4
  %c7282 = const.i32 7282
  %l = local_id
  %u = local_id.x
  %v = local_id.y
  %gx = group_id.x
  %gy = group_id.y
  %col = item_id.x
  %row = item_id.y
  %size = group_size
  %last_col = sub.i32 %w, %one
  %last_row = sub.i32 %h, %one
  %x0 = mul.i32 %gx, %c16
  %left = sub.i32 %x0, %one
  %y0 = mul.i32 %gy, %c8
  %top = sub.i32 %y0, %one
  br ^fetch(%l)
^fetch(%p: i32):
  %tv = div_u.i32 %p, %c18
  %tu = rem_u.i32 %p, %c18
  %px = add.i32 %left, %tu
  %py = add.i32 %top, %tv
  %px1 = max_s.i32 %px, %zero
  %py1 = max_s.i32 %py, %zero
  %px2 = min_s.i32 %px1, %last_col
  %py2 = min_s.i32 %py1, %last_row
  %line = mul.i32 %py2, %w
  %from = add.i32 %line, %px2
  %pixel = load %x[%from wide]
  store %pixel, %tile[%p]
  %p1 = add.i32 %p, %size
  %more = icmp.lt_u.i32 %p1, %c180
  br_if %more, ^fetch(%p1), ^filter
^filter:
  barrier
  %in_col = icmp.lt_u.i32 %col, %w
  %in_row = icmp.lt_u.i32 %row, %h
  %inside = and.i1 %in_col, %in_row
  br_if %inside, ^sum, ^end
^sum:
  %t0 = mul.i32 %v, %c18
  %t = add.i32 %t0, %u
  %b0 = load %tile[%t]
  %b1 = load %tile[%t + 1]
  %b2 = load %tile[%t + 2]
  %b3 = load %tile[%t + 18]
  %b4 = load %tile[%t + 19]
  %b5 = load %tile[%t + 20]
  %b6 = load %tile[%t + 36]
  %b7 = load %tile[%t + 37]
  %b8 = load %tile[%t + 38]
  %w0 = zext.i32 %b0
  %w1 = zext.i32 %b1
  %w2 = zext.i32 %b2
  %w3 = zext.i32 %b3
  %w4 = zext.i32 %b4
  %w5 = zext.i32 %b5
  %w6 = zext.i32 %b6
  %w7 = zext.i32 %b7
  %w8 = zext.i32 %b8
  %s1 = add.i32 %w0, %w1
  %s2 = add.i32 %s1, %w2
  %s3 = add.i32 %s2, %w3
  %s4 = add.i32 %s3, %w4
  %s5 = add.i32 %s4, %w5
  %s6 = add.i32 %s5, %w6
  %s7 = add.i32 %s6, %w7
  %s8 = add.i32 %s7, %w8
  %rounds = add.i32 %s8, %four
  %product = mul.i32 %rounds, %c7282
  %quotient = shr_u.i32 %product, %c16
  %r = trunc.i8 %quotient
  %to0 = mul.i32 %row, %w
  %to = add.i32 %to0, %col
  store %r, %y[%to wide]
  br ^end
^end:
  ret
}
; run: halu, ptx: @box_filter grid=3,4 block=16,8 w=37 h=29 x=random(1073, 25) y=zeros(1073)
; run: halu, ptx: @box_filter grid=1,1 block=16,8 w=1 h=1 x=[77] -> y=[77]
; run: halu, ptx: @box_filter grid=2,2 block=16,8 w=18 h=9 x=[105, 255, 255, 255, 13, 255, 255, 0, 0, 0, 255, 255, 0, 104, 45, 57, 0, 197, 255, 0, 81, 0, 0, 223, 91, 209, 255, 0, 255, 26, 0, 255, 255, 255, 144, 255, 143, 0, 0, 0, 0, 112, 0, 255, 226, 0, 0, 0, 255, 0, 1, 0, 255, 0, 0, 0, 0, 0, 255, 255, 255, 178, 0, 75, 81, 86, 0, 0, 255, 0, 0, 255, 255, 255, 41, 255, 86, 255, 0, 231, 73, 22, 0, 255, 255, 255, 255, 97, 255, 255, 255, 0, 255, 113, 97, 0, 0, 255, 255, 255, 255, 250, 0, 0, 250, 0, 0, 215, 255, 0, 0, 255, 255, 0, 79, 0, 255, 86, 0, 0, 0, 0, 33, 255, 0, 28, 255, 105, 230, 0, 229, 0, 123, 39, 219, 255, 0, 255, 0, 255, 0, 255, 10, 0, 141, 0, 255, 0, 0, 255, 0, 255, 0, 0, 255, 43, 90, 248, 239, 255, 9, 173] -> y=[160, 174, 179, 125, 141, 151, 171, 118, 52, 113, 145, 145, 111, 90, 131, 95, 129, 160, 140, 122, 94, 67, 95, 105, 156, 143, 105, 110, 88, 116, 99, 102, 108, 112, 129, 145, 88, 53, 9, 37, 94, 132, 175, 163, 133, 99, 58, 78, 69, 113, 113, 129, 129, 158, 117, 77, 61, 71, 135, 135, 171, 135, 118, 53, 58, 104, 123, 142, 96, 124, 124, 170, 142, 118, 102, 122, 146, 134, 159, 139, 149, 113, 142, 131, 122, 141, 124, 124, 120, 189, 198, 146, 130, 151, 146, 86, 91, 128, 159, 133, 125, 113, 113, 116, 127, 127, 123, 139, 182, 151, 106, 159, 105, 87, 55, 136, 180, 176, 151, 84, 84, 60, 116, 89, 85, 55, 156, 138, 94, 136, 110, 105, 83, 108, 123, 119, 99, 71, 99, 96, 171, 117, 109, 47, 131, 154, 94, 108, 82, 96, 131, 99, 114, 109, 123, 115, 141, 157, 222, 141, 127, 80]
