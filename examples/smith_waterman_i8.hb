; A row of Smith-Waterman alignment of sequences, four alignments in the bytes of a word, for searches in protein
; databases. The best score of a cell is the maximum of these values: the diagonal neighbour plus the score of
; the two letters, a gap in either sequence, and 0. A gap opens from the best score of the previous cell, or is
; extended. Sums saturate in a byte; an alignment that reaches 127 must be repeated with wider lanes.
;
; Item i computes the row: column k of `length`, at least 1, is word i + k * stride. The item
; reads the best scores and the vertical gaps of the row above, and writes those of its own row.
kernel smith_waterman_i8(open: i8x4, extend: i8x4, length: i32, stride: i32, scores: in i8x4, best_above: in i8x4,
  gap_above: in i8x4, best: out i8x4, gap: out i8x4, most: inout i8x4) {
  let i = item_id()
  var (k, at, diagonal, left, gap_left, greatest) = (0, i, 0i8x4, 0i8x4, 0i8x4, most[i])
  do {
    let (score, above, gap_down) = (scores[at], best_above[at], gap_above[at])
    let right = max_s(sub_sat_s(left, open), sub_sat_s(gap_left, extend))
    let down = max_s(sub_sat_s(above, open), sub_sat_s(gap_down, extend))
    let here = max_s(max_s(max_s(add_sat_s(diagonal, score), right), down), 0)
    greatest = max_s(greatest, here)
    best[at] = here
    gap[at] = down
    diagonal = above
    left = here
    gap_left = right
    at += stride
    k += 1
  } while k <_s length
  most[i] = greatest
}

; run: halu, vp1, ptx: @smith_waterman_i8 items=2 open=11 extend=1 length=4 stride=2 scores=[[4, 10, 3, -3], [5, 6, -3, 3], [1, 6, 7, -4], [-2, -4, 8, -2], [10, 11, 5, 0], [0, 5, 9, 11], [-3, 7, -3, -1], [0, 2, 6, -3]] best_above=[[21, 11, 0, 12], [19, 0, 28, 33], [120, 127, 0, 3], [12, 25, 1, 23], [23, 26, 8, 39], [24, 23, 15, 5], [31, 27, 23, 27], [36, 34, 26, 27]] gap_above=[[19, 6, -5, 11], [13, -6, 17, 24], [107, 117, -10, -6], [9, 17, -6, 15], [16, 22, 3, 33], [15, 17, 10, 4], [27, 14, 20, 25], [26, 21, 23, 16]] best=zeros(8) gap=zeros(8) most=[[44, 13, 51, 21], [29, 14, 33, 37]] -> best=[[18, 10, 3, 10], [12, 6, 17, 23], [109, 116, 7, 8], [17, 16, 36, 31], [127, 127, 5, 32], [14, 30, 25, 34], [116, 116, 19, 38], [25, 25, 24, 23]] gap=[[18, 5, -6, 10], [12, -7, 17, 23], [109, 116, -11, -7], [8, 16, -7, 14], [15, 21, 2, 32], [14, 16, 9, 3], [26, 16, 19, 24], [25, 23, 22, 16]] most=[[127, 127, 51, 38], [29, 30, 36, 37]]
; run: halu, vp1, ptx: @smith_waterman_i8 items=200 open=[11, 127, 0, -128] extend=[1, 2, 127, -1] length=12 stride=200 scores=random(2400, 211) best_above=random(2400, 212) gap_above=random(2400, 213) best=zeros(2400) gap=zeros(2400) most=random(200, 214)

; The 59th letter of human haemoglobin alpha with the first 100 letters of beta, delta, myoglobin and neuroglobin.
; run: halu, vp1, ptx: @smith_waterman_i8 items=1 open=11 extend=1 length=100 stride=1 scores=@globins-scores.npy best_above=@globins-above.npy gap_above=@globins-gaps.npy best=zeros(100) gap=zeros(100) most=[[93, 97, 65, 34]] -> best=@globins-below.npy most=[[100, 104, 65, 34]]
