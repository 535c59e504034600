; The sum of absolute differences of a block of 16 by 16 pixels and the blocks of the same size in a reference: item i takes the one that begins i
; pixels further right. Its words begin at any byte.
kernel @sad16x16(%w: i32, %cur: in i8x4, %ref: in i8, %sad: out i32) {
^entry:
  %c2 = const.i32 0
  %c3 = const.i32 16
  %c21 = const.i32 2
  %c24 = const.i32 1
  %v1 = item_id
  br ^l1(%c2, %c2, %c2, %v1)
^l1(%v4: i32, %v5: i32, %v6: i32, %v7: i32):
  %v8 = load %cur[%v6]
  %v9 = load.i8x4 %ref[%v7] align 1
  %v10 = sad_u.i8x4 %v8, %v9, %v5
  %v11 = load %cur[%v6 + 1]
  %v12 = load.i8x4 %ref[%v7 + 4] align 1
  %v13 = sad_u.i8x4 %v11, %v12, %v10
  %v14 = load %cur[%v6 + 2]
  %v15 = load.i8x4 %ref[%v7 + 8] align 1
  %v16 = sad_u.i8x4 %v14, %v15, %v13
  %v17 = load %cur[%v6 + 3]
  %v18 = load.i8x4 %ref[%v7 + 12] align 1
  %v19 = sad_u.i8x4 %v17, %v18, %v16
  %v20 = add.i32 %v6, %w
  %v22 = shl.i32 %w, %c21
  %v23 = add.i32 %v7, %v22
  %v25 = add.i32 %v4, %c24
  %v26 = icmp.lt_s.i32 %v25, %c3
  br_if %v26, ^l1(%v25, %v19, %v20, %v23), ^d1
^d1:
  store %v19, %sad[%v1]
  ret
}

; run: halu, vp1, ptx: @sad16x16 items=64 w=32 cur=random(4096, 103) ref=random(16384, 103)
