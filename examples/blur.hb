; A blur in two launches: every pixel of a grey image becomes a quarter of its left and right neighbours and half of itself, then the same
; of those above and below. Both take rounded averages, so nothing needs more than a byte. The second launch reads what the first has left
; in `rows`.
;
; An item does four pixels in one word. In rows, item i takes words i to i + 2 and writes the one in their middle; of the first and last
; word of a row, one pixel so has a neighbour in another row, as an image has nothing beside its edge.
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

; In columns, item i takes words i of three rows, which are `width` words long, and writes the one in their middle.
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

; Each alone.
; run: all: @blur_rows items=1000 pixels=random(1002, 61) rows=zeros(1002)
; run: all: @blur_columns items=1000 width=40 rows=random(1080, 62) blurred=zeros(1080)

; One after the other, on three rows of three words; after each launch stands what it leaves.
; run: all: @blur_rows items=7 pixels=[[9, 0, 0, 0], [0, 0, 0, 255], [0, 0, 0, 9], [9, 8, 7, 6], [5, 100, 3, 2], [1, 0, 255, 255], [0, 0, 0, 0], [1, 2, 4, 8], [16, 32, 64, 128]] -> rows=[[0, 0, 0, 0], [0, 0, 64, 128], [64, 0, 3, 7], [9, 8, 7, 6], [29, 52, 27, 2], [1, 64, 192, 192], [64, 0, 0, 1], [1, 3, 5, 9], [0, 0, 0, 0]]
; then: @blur_columns items=3 width=3 -> blurred=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [21, 4, 4, 4], [15, 27, 31, 36], [17, 32, 97, 98], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

; A photograph of 128 by 128 pixels.
; run: all: @blur_rows items=4094 pixels=@chelsea.npy rows=zeros(4096)
; then: @blur_columns items=4032 width=32 -> blurred=@chelsea-blurred.npy
