; Where a block of a picture has come from: what video encoders spend most of their time on. A block of 8 by 8 pixels is
; laid on every place of a window in the picture before; the place with the least sum of absolute differences is kept. Sum
; and place stand in one word, the sum highest, so that a minimum keeps both, and of equal sums the place nearest to the
; window's beginning.
;
; Four places beside each other are done together: of a row of the picture before, three words are loaded, and the eight
; pixels of each place come out of two neighbours. Item i is block i of a row of blocks: its first pixels are word 2 * i
; of pictures of `width` words a row. The window goes from there 4 * `across` pixels to the right and `down` pixels down,
; one each at least and 256 at most.
kernel @motion_search(%width: i32, %across: i32, %down: i32, %picture: in i8x4, %before: in i8x4, %found: out i32) {
^entry:
  %i = item_id
  %none = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  %three = const.i32 3
  %eight = const.i32 8
  %sixteen = const.i32 16
  %most = const.i32 -1
  %block = mul.i32 %i, %two
  br ^line(%none, %block, %most)
^line(%y: i32, %there: i32, %best0: i32):
  br ^places(%none, %best0)
^places(%x: i32, %best: i32):
  %from = add.i32 %there, %x
  br ^row(%none, %block, %from, %none, %none, %none, %none)
^row(%r: i32, %at: i32, %of: i32, %t0: i32, %t1: i32, %t2: i32, %t3: i32):
  %a = load %picture[%at]
  %b = load %picture[%at + 1]
  %c0 = load %before[%of]
  %d0 = load %before[%of + 1]
  %e = load %before[%of + 2]
  %c1 = shuffle.i8x4 %c0, %d0, [1, 2, 3, 4]
  %d1 = shuffle.i8x4 %d0, %e, [1, 2, 3, 4]
  %c2 = shuffle.i8x4 %c0, %d0, [2, 3, 4, 5]
  %d2 = shuffle.i8x4 %d0, %e, [2, 3, 4, 5]
  %c3 = shuffle.i8x4 %c0, %d0, [3, 4, 5, 6]
  %d3 = shuffle.i8x4 %d0, %e, [3, 4, 5, 6]
  %u0 = sad_u.i8x4 %a, %c0, %t0
  %u1 = sad_u.i8x4 %a, %c1, %t1
  %u2 = sad_u.i8x4 %a, %c2, %t2
  %u3 = sad_u.i8x4 %a, %c3, %t3
  %v0 = sad_u.i8x4 %b, %d0, %u0
  %v1 = sad_u.i8x4 %b, %d1, %u1
  %v2 = sad_u.i8x4 %b, %d2, %u2
  %v3 = sad_u.i8x4 %b, %d3, %u3
  %r1 = add.i32 %r, %one
  %at1 = add.i32 %at, %width
  %of1 = add.i32 %of, %width
  %rows = icmp.lt_s.i32 %r1, %eight
  br_if %rows, ^row(%r1, %at1, %of1, %v0, %v1, %v2, %v3), ^compare
^compare:
  %high = shl.i32 %y, %eight
  %low = shl.i32 %x, %two
  %w0 = or.i32 %high, %low
  %w1 = or.i32 %w0, %one
  %w2 = or.i32 %w0, %two
  %w3 = or.i32 %w0, %three
  %s0 = shl.i32 %v0, %sixteen
  %k0 = or.i32 %s0, %w0
  %s1 = shl.i32 %v1, %sixteen
  %k1 = or.i32 %s1, %w1
  %s2 = shl.i32 %v2, %sixteen
  %k2 = or.i32 %s2, %w2
  %s3 = shl.i32 %v3, %sixteen
  %k3 = or.i32 %s3, %w3
  %m0 = min_u.i32 %k0, %k1
  %m1 = min_u.i32 %k2, %k3
  %m2 = min_u.i32 %m0, %m1
  %better = min_u.i32 %best, %m2
  %x1 = add.i32 %x, %one
  %right = icmp.lt_s.i32 %x1, %across
  br_if %right, ^places(%x1, %better), ^below
^below:
  %y1 = add.i32 %y, %one
  %there1 = add.i32 %there, %width
  %on = icmp.lt_s.i32 %y1, %down
  br_if %on, ^line(%y1, %there1, %better), ^done
^done:
  store %better, %found[%i]
  ret
}

; run: halu, vp1, ptx: @motion_search items=1 width=3 across=1 down=2 picture=[[215, 181, 181, 225], [81, 82, 248, 83], [0, 0, 0, 0], [242, 195, 181, 220], [39, 142, 97, 227], [0, 0, 0, 0], [45, 94, 39, 106], [9, 213, 180, 186], [0, 0, 0, 0], [32, 236, 129, 31], [160, 184, 1, 74], [0, 0, 0, 0], [37, 206, 47, 11], [21, 227, 2, 8], [0, 0, 0, 0], [217, 24, 226, 249], [201, 165, 169, 243], [0, 0, 0, 0], [151, 34, 236, 103], [191, 148, 156, 17], [0, 0, 0, 0], [177, 151, 31, 119], [166, 221, 128, 131], [0, 0, 0, 0]] before=[[147, 224, 139, 37], [164, 202, 200, 254], [230, 20, 75, 145], [40, 90, 215, 181], [181, 225, 81, 82], [248, 83, 181, 64], [93, 217, 242, 195], [181, 220, 39, 142], [97, 227, 49, 33], [252, 225, 45, 94], [39, 106, 9, 213], [180, 186, 232, 13], [67, 64, 32, 236], [129, 26, 160, 184], [1, 74, 46, 100], [70, 213, 37, 206], [47, 11, 21, 227], [2, 8, 196, 159], [26, 141, 217, 24], [226, 249, 201, 165], [169, 243, 209, 178], [203, 168, 151, 34], [236, 103, 191, 148], [156, 17, 33, 32], [138, 167, 177, 151], [31, 119, 166, 221], [128, 131, 254, 182]] found=zeros(1) -> found=[327938]
; run: halu, vp1, ptx: @motion_search items=21 width=45 across=2 down=3 picture=random(360, 271) before=random(460, 272) found=zeros(21)

; A photograph of 128 by 128 pixels, moved by one: every block is found again one pixel to the right, without a
; difference.
; run: halu, vp1, ptx: @motion_search items=15 width=32 across=1 down=3 picture=@chelsea-moved.npy before=@chelsea.npy found=zeros(15) -> found=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
