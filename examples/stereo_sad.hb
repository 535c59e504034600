; How far a pixel of the left picture lies shifted in the right one, which tells how near it is. For every shift the
; pixels around are compared, 3 by 3, by the sum of absolute differences of their colours, and the shift of the least sum
; is taken, the first of equals.
;
; A pixel is a word of four bytes. Item i is the pixel at word i + width + 1 of pictures of `width` words a row; shift d
; compares it with word i + width + 1 + d of the right picture, d below `shifts`, which is at least one. The ends of rows
; are compared with the next row's begin.
kernel @stereo_sad(%width: i32, %shifts: i32, %left: in i8x4, %right: in i8x4, %shift: out i32, %difference: out i32) {
^entry:
  %i = item_id
  %none = const.i32 0
  %one = const.i32 1
  %most = const.i32 -1
  %i1 = add.i32 %i, %width
  %i2 = add.i32 %i1, %width
  br ^next(%none, %most, %none)
^next(%d: i32, %least: i32, %best: i32):
  %j = add.i32 %i, %d
  %j1 = add.i32 %j, %width
  %j2 = add.i32 %j1, %width
  %l0 = load %left[%i]
  %r0 = load %right[%j]
  %s0 = sad_u.i8x4 %l0, %r0, %none
  %l1 = load %left[%i + 1]
  %r1 = load %right[%j + 1]
  %s1 = sad_u.i8x4 %l1, %r1, %s0
  %l2 = load %left[%i + 2]
  %r2 = load %right[%j + 2]
  %s2 = sad_u.i8x4 %l2, %r2, %s1
  %l3 = load %left[%i1]
  %r3 = load %right[%j1]
  %s3 = sad_u.i8x4 %l3, %r3, %s2
  %l4 = load %left[%i1 + 1]
  %r4 = load %right[%j1 + 1]
  %s4 = sad_u.i8x4 %l4, %r4, %s3
  %l5 = load %left[%i1 + 2]
  %r5 = load %right[%j1 + 2]
  %s5 = sad_u.i8x4 %l5, %r5, %s4
  %l6 = load %left[%i2]
  %r6 = load %right[%j2]
  %s6 = sad_u.i8x4 %l6, %r6, %s5
  %l7 = load %left[%i2 + 1]
  %r7 = load %right[%j2 + 1]
  %s7 = sad_u.i8x4 %l7, %r7, %s6
  %l8 = load %left[%i2 + 2]
  %r8 = load %right[%j2 + 2]
  %s8 = sad_u.i8x4 %l8, %r8, %s7
  %better = icmp.lt_u.i32 %s8, %least
  %least1 = select.i32 %better, %s8, %least
  %best1 = select.i32 %better, %d, %best
  %d1 = add.i32 %d, %one
  %more = icmp.lt_s.i32 %d1, %shifts
  br_if %more, ^next(%d1, %least1, %best1), ^done
^done:
  store %best1, %shift[%i]
  store %least1, %difference[%i]
  ret
}

; run: halu, vp1, ptx: @stereo_sad items=3 width=5 shifts=3 left=[[170, 244, 212, 196], [181, 32, 65, 211], [85, 217, 45, 89], [249, 130, 214, 154], [16, 86, 128, 159], [252, 187, 85, 220], [107, 86, 9, 109], [56, 152, 171, 249], [128, 237, 239, 14], [199, 195, 185, 40], [98, 71, 236, 149], [172, 199, 171, 44], [28, 237, 142, 89], [32, 214, 40, 229], [222, 58, 109, 41]] right=[[9, 9, 9, 9], [170, 244, 212, 196], [181, 32, 65, 211], [85, 217, 45, 89], [249, 130, 214, 154], [9, 9, 9, 9], [252, 187, 85, 220], [107, 86, 9, 109], [56, 152, 171, 249], [128, 237, 239, 14], [9, 9, 9, 9], [98, 71, 236, 149], [172, 199, 171, 44], [28, 237, 142, 89], [32, 214, 40, 229], [0, 0, 0, 0], [0, 0, 0, 0]] shift=zeros(3) difference=zeros(3) -> shift=[1, 1, 1] difference=[0, 0, 1366]
; run: halu, vp1, ptx: @stereo_sad items=201 width=30 shifts=7 left=random(263, 261) right=random(269, 262) shift=zeros(201) difference=zeros(201)

; A photograph in colour, moved by two pixels in its left half and by five in its right half.
; run: halu, vp1, ptx: @stereo_sad items=630 width=64 shifts=8 left=@chelsea-left.npy right=@chelsea-right.npy shift=zeros(630) difference=zeros(630) -> shift=@chelsea-shifts.npy
