; Median of every pixel and its eight neighbours. It removes single wrong pixels from a grey image and
; keeps edges sharp. Each item computes four pixels in one word, with neighbours from the adjacent
; words. A network of compare-exchange steps sorts the nine pixels as far as the median requires.
;
; Item i reads words i to i + 2 of three rows of `width` words each, and writes the word in the middle.
; At the ends of a row, some neighbours are pixels of another row, because the image has no border.
kernel @median(%width: i32, %pixels: in i8x4, %clean: out i8x4) {
^entry:
  %i = item_id
  %row1 = add.i32 %i, %width
  %row2 = add.i32 %row1, %width
  %l0 = load %pixels[%i]
  %c0 = load %pixels[%i + 1]
  %r0 = load %pixels[%i + 2]
  %l1 = load %pixels[%row1]
  %c1 = load %pixels[%row1 + 1]
  %r1 = load %pixels[%row1 + 2]
  %l2 = load %pixels[%row2]
  %c2 = load %pixels[%row2 + 1]
  %r2 = load %pixels[%row2 + 2]
  %p0 = shuffle.i8x4 %l0, %c0, [3, 4, 5, 6]
  %p2 = shuffle.i8x4 %c0, %r0, [1, 2, 3, 4]
  %p3 = shuffle.i8x4 %l1, %c1, [3, 4, 5, 6]
  %p5 = shuffle.i8x4 %c1, %r1, [1, 2, 3, 4]
  %p6 = shuffle.i8x4 %l2, %c2, [3, 4, 5, 6]
  %p8 = shuffle.i8x4 %c2, %r2, [1, 2, 3, 4]
  %m0a  = min_u.i8x4 %c0, %p2
  %m0b  = max_u.i8x4 %c0, %p2
  %m1a  = min_u.i8x4 %c1, %p5
  %m1b  = max_u.i8x4 %c1, %p5
  %m2a  = min_u.i8x4 %c2, %p8
  %m2b  = max_u.i8x4 %c2, %p8
  %m3a  = min_u.i8x4 %p0, %m0a
  %m3b  = max_u.i8x4 %p0, %m0a
  %m4a  = min_u.i8x4 %p3, %m1a
  %m4b  = max_u.i8x4 %p3, %m1a
  %m5a  = min_u.i8x4 %p6, %m2a
  %m5b  = max_u.i8x4 %p6, %m2a
  %m6a  = min_u.i8x4 %m3b, %m0b
  %m6b  = max_u.i8x4 %m3b, %m0b
  %m7a  = min_u.i8x4 %m4b, %m1b
  %m7b  = max_u.i8x4 %m4b, %m1b
  %m8a  = min_u.i8x4 %m5b, %m2b
  %m8b  = max_u.i8x4 %m5b, %m2b
  %m9b  = max_u.i8x4 %m3a, %m4a
  %m10a = min_u.i8x4 %m7b, %m8b
  %m11a = min_u.i8x4 %m7a, %m8a
  %m11b = max_u.i8x4 %m7a, %m8a
  %m12b = max_u.i8x4 %m9b, %m5a
  %m13b = max_u.i8x4 %m6a, %m11a
  %m14a = min_u.i8x4 %m6b, %m10a
  %m15a = min_u.i8x4 %m13b, %m11b
  %m16a = min_u.i8x4 %m15a, %m14a
  %m16b = max_u.i8x4 %m15a, %m14a
  %m17b = max_u.i8x4 %m12b, %m16a
  %m18a = min_u.i8x4 %m17b, %m16b
  store %m18a, %clean[%row1 + 1]
  ret
}

; run: halu, vp1, ptx: @median items=1 width=3 pixels=[[0, 1, 2, 9], [1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 9, 7], [200, 6, 7, 8], [9, 1, 1, 1], [0, 0, 0, 5], [3, 4, 255, 6], [7, 0, 0, 0]] clean=zeros(9) -> clean=[0, 0, 0, 0, [5, 4, 6, 7], 0, 0, 0, 0]
; run: halu, vp1, ptx: @median items=1000 width=40 pixels=random(1082, 41) clean=zeros(1082)

; A photograph of 128 by 128 pixels.
; run: halu, vp1, ptx: @median items=4030 width=32 pixels=@chelsea.npy clean=zeros(4096)
