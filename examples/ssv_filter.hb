; The filter by which searches with profiles of protein families pass over nearly all sequences: the best run of letters
; without a gap. Along a diagonal, of positions in the family and letters of the sequence, scores are summed; a sum is
; clamped at -128, which is a new beginning, and the greatest is kept. What is below stays below, so that the whole
; sequence needs no other cells.
;
; A family of 4 * words positions lies in stripes: byte b of word w is position b * words + w. So the diagonals of a
; word's four bytes go on in the next word with the next letter, and from the last word in the first, each in the byte
; above its own; in the lowest byte begins a new one.
;
; Item i follows the diagonals that begin in word i, through `length` letters, at least one. All items are at the same
; letter, of which the scores lie in a row of `stride` words: those of the family, and after them the first `length` once
; more.
kernel @ssv_filter(%words: i32, %length: i32, %stride: i32, %scores: in i8x4, %best: out i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %floor = const.i8x4 -128
  %down = add.i32 %stride, %one
  br ^letter(%zero, %i, %i, %floor, %floor)
^letter(%k: i32, %at: i32, %word: i32, %sum: i8x4, %most: i8x4):
  %score = load %scores[%at]
  %here = add_sat_s.i8x4 %sum, %score
  %most1 = max_s.i8x4 %most, %here
  %word1 = add.i32 %word, %one
  %wraps = icmp.eq.i32 %word1, %words
  %turned = shuffle.i8x4 %here, %floor, [4, 0, 1, 2]
  %next = select.i8x4 %wraps, %turned, %here
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %down
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^letter(%k1, %at1, %word1, %next, %most1), ^done
^done:
  store %most1, %best[%i]
  ret
}

; run: halu, vp1, ptx: @ssv_filter items=3 words=3 length=3 stride=6 scores=[[83, 25, -25, -48], [4, -58, -46, -37], [1, -58, -58, 110], [83, 25, -25, -48], [4, -58, -46, -37], [1, -58, -58, 110], [-54, 45, 114, -17], [52, -45, -25, 40], [48, 10, 11, -31], [-54, 45, 114, -17], [52, -45, -25, 40], [48, 10, 11, -31], [-26, -8, -13, 76], [83, -54, 70, 85], [-60, 104, 119, 97], [-26, -8, -13, 76], [83, -54, 70, 85], [-60, 104, 119, 97]] best=zeros(3) -> best=[[7, -24, -9, 9], [-76, -84, -117, -41], [-45, -82, 56, -18]]
; run: halu, vp1, ptx: @ssv_filter items=50 words=50 length=40 stride=90 scores=random(3600, 231) best=zeros(50)
