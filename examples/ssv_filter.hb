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
kernel ssv_filter(words: i32, length: i32, stride: i32, scores: in i8x4, best: out i8x4) {
  let i = item_id()
  const FLOOR: i8x4 = -128
  let down = stride + 1
  var (k, at, word, sum, most) = (0, i, i, FLOOR, FLOOR)
  do {
    let here = add_sat_s(sum, scores[at])
    most = max_s(most, here)
    word += 1
    sum = select(word == words, shuffle(here, FLOOR, [4, 0, 1, 2]), here)
    at += down
    k += 1
  } while k <_s length
  best[i] = most
}

; run: halu, vp1, ptx: @ssv_filter items=3 words=3 length=3 stride=6 scores=[[83, 25, -25, -48], [4, -58, -46, -37], [1, -58, -58, 110], [83, 25, -25, -48], [4, -58, -46, -37], [1, -58, -58, 110], [-54, 45, 114, -17], [52, -45, -25, 40], [48, 10, 11, -31], [-54, 45, 114, -17], [52, -45, -25, 40], [48, 10, 11, -31], [-26, -8, -13, 76], [83, -54, 70, 85], [-60, 104, 119, 97], [-26, -8, -13, 76], [83, -54, 70, 85], [-60, 104, 119, 97]] best=zeros(3) -> best=[[7, -24, -9, 9], [-76, -84, -117, -41], [-45, -82, 56, -18]]
; run: halu, vp1, ptx: @ssv_filter items=50 words=50 length=40 stride=90 scores=random(3600, 231) best=zeros(50)
