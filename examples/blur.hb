; Blur of a grey image in two launches. The first launch averages every pixel with its left and right neighbours:
; a quarter of each neighbour and half of the pixel. The second launch does the same with the neighbours above
; and below, on the output `rows` of the first launch. Rounded averages need no more than a byte.
;
; Each item computes four pixels in one word. In the launch for rows, item i reads words i to i + 2 and writes the
; word in the middle. At the ends of a row, one neighbour is a pixel of another row, because the image has no border.
kernel @blur_rows(%pixels: in i8x4, %rows: out i8x4) {
^entry:
  %i = item_id
  %l = load %pixels[%i]
  %c = load %pixels[%i + 1]
  %r = load %pixels[%i + 2]
  %left = shuffle.i8x4 %l, %c, [3, 4, 5, 6]
  %right = shuffle.i8x4 %c, %r, [1, 2, 3, 4]
  %beside = avg_u.i8x4 %left, %right
  %mean = avg_u.i8x4 %beside, %c
  store %mean, %rows[%i + 1]
  ret
}

; In the launch for columns, item i reads word i of three rows of `width` words each, and writes the word in the middle.
kernel @blur_columns(%width: i32, %rows: in i8x4, %blurred: out i8x4) {
^entry:
  %i = item_id
  %row1 = add.i32 %i, %width
  %row2 = add.i32 %row1, %width
  %above = load %rows[%i]
  %c = load %rows[%row1]
  %below = load %rows[%row2]
  %beside = avg_u.i8x4 %above, %below
  %mean = avg_u.i8x4 %beside, %c
  store %mean, %blurred[%row1]
  ret
}

; Each launch alone.
; run: all: @blur_rows items=1000 pixels=random(1002, 61) rows=zeros(1002)
; run: all: @blur_columns items=1000 width=40 rows=random(1080, 62) blurred=zeros(1080)

; Both launches, on three rows of three words. The expected result follows each launch.
; run: all: @blur_rows items=7 pixels=[[9, 0, 0, 0], [0, 0, 0, 255], [0, 0, 0, 9], [9, 8, 7, 6], [5, 100, 3, 2], [1, 0, 255, 255], [0, 0, 0, 0], [1, 2, 4, 8], [16, 32, 64, 128]] -> rows=[[0, 0, 0, 0], [0, 0, 64, 128], [64, 0, 3, 7], [9, 8, 7, 6], [29, 52, 27, 2], [1, 64, 192, 192], [64, 0, 0, 1], [1, 3, 5, 9], [0, 0, 0, 0]]
; then: @blur_columns items=3 width=3 -> blurred=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [21, 4, 4, 4], [15, 27, 31, 36], [17, 32, 97, 98], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

; A photograph of 128 by 128 pixels.
; run: all: @blur_rows items=4094 pixels=@chelsea.npy rows=zeros(4096)
; then: @blur_columns items=4032 width=32 -> blurred=@chelsea-blurred.npy
