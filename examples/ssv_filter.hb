; SSV filter of profile searches, which rejects nearly all sequences of a protein
; database: the best ungapped alignment of a sequence and the profile of a protein family.
; It sums scores along a diagonal of profile positions and letters. A sum saturates at
; -128, which starts a new alignment, and the filter keeps the maximum of all sums.
;
; A profile of 4 * words positions is striped: byte b of word w is position b * words + w. The
; diagonals in the four bytes of a word continue in the next word with the next letter. From the last
; word they continue in the first word, one byte higher, and a new diagonal starts in the lowest byte.
;
; Item i follows the diagonals that start in word i, through `length` letters, at
; least 1. All items process the same letter. The scores of a letter are a row of
; `stride` words: those of the profile, and then the first `length` of them again.
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
