; The median of every pixel and its eight neighbours, of 16-bit pixels. An item does two pixels in one word; its
; neighbours in a row come out of the words beside it. Nine pixels are brought so far into order by a network of
; exchanges, a lesser and a greater each, that the one in the middle is the median.
;
; Item i takes words i to i + 2 of each of three rows, which are `width` words long, and writes the word in their middle.
; Of the first and last word of a row, a pixel so has neighbours in another row, as an image has nothing beside its edge.
kernel @median_u16(%width: i32, %pixels: in i16x2, %clean: out i16x2) {
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
  %p0 = shuffle.i16x2 %l0, %c0, [1, 2]
  %p2 = shuffle.i16x2 %c0, %r0, [1, 2]
  %p3 = shuffle.i16x2 %l1, %c1, [1, 2]
  %p5 = shuffle.i16x2 %c1, %r1, [1, 2]
  %p6 = shuffle.i16x2 %l2, %c2, [1, 2]
  %p8 = shuffle.i16x2 %c2, %r2, [1, 2]
  %m0a  = min_u.i16x2 %c0, %p2
  %m0b  = max_u.i16x2 %c0, %p2
  %m1a  = min_u.i16x2 %c1, %p5
  %m1b  = max_u.i16x2 %c1, %p5
  %m2a  = min_u.i16x2 %c2, %p8
  %m2b  = max_u.i16x2 %c2, %p8
  %m3a  = min_u.i16x2 %p0, %m0a
  %m3b  = max_u.i16x2 %p0, %m0a
  %m4a  = min_u.i16x2 %p3, %m1a
  %m4b  = max_u.i16x2 %p3, %m1a
  %m5a  = min_u.i16x2 %p6, %m2a
  %m5b  = max_u.i16x2 %p6, %m2a
  %m6a  = min_u.i16x2 %m3b, %m0b
  %m6b  = max_u.i16x2 %m3b, %m0b
  %m7a  = min_u.i16x2 %m4b, %m1b
  %m7b  = max_u.i16x2 %m4b, %m1b
  %m8a  = min_u.i16x2 %m5b, %m2b
  %m8b  = max_u.i16x2 %m5b, %m2b
  %m9b  = max_u.i16x2 %m3a, %m4a
  %m10a = min_u.i16x2 %m7b, %m8b
  %m11a = min_u.i16x2 %m7a, %m8a
  %m11b = max_u.i16x2 %m7a, %m8a
  %m12b = max_u.i16x2 %m9b, %m5a
  %m13b = max_u.i16x2 %m6a, %m11a
  %m14a = min_u.i16x2 %m6b, %m10a
  %m15a = min_u.i16x2 %m13b, %m11b
  %m16a = min_u.i16x2 %m15a, %m14a
  %m16b = max_u.i16x2 %m15a, %m14a
  %m17b = max_u.i16x2 %m12b, %m16a
  %m18a = min_u.i16x2 %m17b, %m16b
  store %m18a, %clean[%row1 + 1]
  ret
}

; run: halu, vp1, ptx: @median_u16 items=1 width=3 pixels=[[25202, 61763], [61255, 20128], [22485, 16705], [20759, 14589], [53936, 51524], [57853, 14202], [25499, 52804], [25270, 48015], [2382, 27641]] clean=zeros(9) -> clean=[[0, 0], [0, 0], [0, 0], [0, 0], [51524, 48015], [0, 0], [0, 0], [0, 0], [0, 0]]
; run: halu, vp1, ptx: @median_u16 items=1000 width=40 pixels=random(1082, 372) clean=zeros(1082)

; A photograph of 64 by 64 pixels.
; run: halu, vp1, ptx: @median_u16 items=1982 width=32 pixels=@chelsea-u16.npy clean=zeros(2048)
