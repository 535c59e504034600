; Median of nine words, byte by byte, which removes single wrong pixels from an image. A network of
; compare-exchange steps sorts the nine as far as the median requires. Each item reads nine of twelve words.
kernel @k14_v4_median9(%x: in i8x4 align 16, %y: out i8x4) {
^entry:
  %i = item_id
  %twelve = const.i32 12
  %j = mul.i32 %i, %twelve
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]
  %v4 = load %x[%j + 4]
  %v5 = load %x[%j + 5]
  %v6 = load %x[%j + 6]
  %v7 = load %x[%j + 7]
  %v8 = load %x[%j + 8]
  %m1 = min_u.i8x4 %v0, %v1
  %m2 = max_u.i8x4 %v0, %v1
  %m3 = min_u.i8x4 %m2, %v2
  %m4 = max_u.i8x4 %m2, %v2
  %m5 = min_u.i8x4 %m1, %m3
  %m6 = max_u.i8x4 %m1, %m3
  %m7 = min_u.i8x4 %v3, %v4
  %m8 = max_u.i8x4 %v3, %v4
  %m9 = min_u.i8x4 %m8, %v5
  %m10 = max_u.i8x4 %m8, %v5
  %m11 = min_u.i8x4 %m7, %m9
  %m12 = max_u.i8x4 %m7, %m9
  %m13 = min_u.i8x4 %v6, %v7
  %m14 = max_u.i8x4 %v6, %v7
  %m15 = min_u.i8x4 %m14, %v8
  %m16 = max_u.i8x4 %m14, %v8
  %m17 = min_u.i8x4 %m13, %m15
  %m18 = max_u.i8x4 %m13, %m15
  %m19 = max_u.i8x4 %m5, %m11
  %m20 = max_u.i8x4 %m19, %m17
  %m21 = min_u.i8x4 %m4, %m10
  %m22 = min_u.i8x4 %m21, %m16
  %m23 = min_u.i8x4 %m6, %m12
  %m24 = max_u.i8x4 %m6, %m12
  %m25 = min_u.i8x4 %m24, %m18
  %m26 = max_u.i8x4 %m23, %m25
  %m27 = min_u.i8x4 %m20, %m26
  %m28 = max_u.i8x4 %m20, %m26
  %m29 = min_u.i8x4 %m28, %m22
  %m30 = max_u.i8x4 %m27, %m29
  store %m30, %y[%i]
  ret
}

; run: halu, vp1, ptx: @k14_v4_median9 items=2 x=[[196, 3, 80, 238], [223, 21, 215, 216], [116, 94, 250, 243], [173, 102, 53, 239], [68, 142, 172, 61], [80, 189, 50, 172], [241, 175, 165, 118], [247, 56, 91, 164], [167, 27, 41, 177], [215, 162, 238, 96], [84, 204, 10, 49], [49, 99, 40, 204], [216, 97, 7, 182], [27, 156, 43, 240], [173, 253, 157, 185], [96, 207, 28, 39], [92, 182, 124, 216], [241, 102, 108, 141], [165, 122, 154, 245], [187, 81, 108, 102], [38, 0, 202, 107], [90, 161, 144, 239], [157, 236, 148, 83], [82, 253, 150, 48]] y=zeros(2) -> y=[[173, 94, 91, 177], [165, 122, 108, 182]]
; run: halu, vp1, ptx: @k14_v4_median9 items=300 x=random(3600, 23) y=zeros(300)
