; A row of Gotoh's alignment of sequences with affine gaps, and the traceback of each cell.
; Each word contains four alignments, in bytes. All numbers are unsigned: a bias makes each
; score at least 0, and subtractions saturate at 0, where a local alignment begins.
;
; A traceback value is 0 for the start of an alignment, 1 for the diagonal, 2 for a gap from the left, and
; 3 for a gap from above. 4 is added if the gap from the left is extended, and 8 if that from above is.
;
; Item i computes the row: column k of `length`, at least 1, is word i + k * stride. The item
; reads the best scores and the vertical gaps of the row above, and writes those of its own row.
kernel gotoh(bias: i8x4, open: i8x4, extend: i8x4, length: i32, stride: i32, scores: in i8x4, best_above: in i8x4,
  gap_above: in i8x4, best: out i8x4, gap: out i8x4, ways: out i8x4) {
  let i = item_id()
  var (k, at, diagonal, left, gap_left) = (0, i, 0i8x4, 0i8x4, 0i8x4)
  do {
    let (score, above, gap_down) = (scores[at], best_above[at], gap_above[at])
    let matched = sub_sat_u(add_sat_u(diagonal, score), bias)
    let opened_right = sub_sat_u(left, open)
    let longer_right = sub_sat_u(gap_left, extend)
    let right = max_u(opened_right, longer_right)
    let opened_down = sub_sat_u(above, open)
    let longer_down = sub_sat_u(gap_down, extend)
    let down = max_u(opened_down, longer_down)
    let gaps = max_u(right, down)
    let here = max_u(matched, gaps)

    ; Priorities: the diagonal before a gap, the left gap before the upper one, and a new gap before an extended one.
    let by_gap = select(right >=_u down, 2i8x4, 3)
    let by = select(matched >=_u gaps, 1, by_gap)
    let way = select(here == 0, 0, by)
    let flag_right = select(longer_right >_u opened_right, 4i8x4, 0)
    let flag_down = select(longer_down >_u opened_down, 8i8x4, 0)
    best[at] = here
    gap[at] = down
    ways[at] = way | (flag_right | flag_down)
    diagonal = above
    left = here
    gap_left = right
    at += stride
    k += 1
  } while k <_s length
}

; run: halu, vp1, ptx: @gotoh items=2 bias=4 open=11 extend=1 length=4 stride=2 scores=[[1, 0, 10, 6], [9, 12, 1, 7], [8, 10, 12, 6], [15, 12, 0, 9], [9, 10, 12, 14], [5, 13, 4, 8], [8, 6, 7, 11], [0, 10, 4, 5]] best_above=[[21, 24, 23, 15], [250, 255, 0, 30], [18, 16, 13, 34], [2, 18, 16, 10], [20, 9, 2, 29], [23, 26, 30, 12], [37, 12, 25, 20], [24, 34, 6, 26]] gap_above=[[14, 23, 12, 6], [241, 242, 0, 24], [7, 4, 8, 22], [0, 15, 14, 5], [8, 6, 0, 22], [12, 17, 23, 1], [26, 11, 24, 7], [16, 33, 3, 14]] best=zeros(8) gap=zeros(8) ways=zeros(8) -> best=[[13, 22, 12, 5], [240, 244, 0, 23], [25, 30, 31, 23], [251, 251, 13, 35], [23, 22, 21, 44], [240, 240, 22, 24], [26, 18, 23, 36], [239, 239, 30, 23]] gap=[[13, 22, 12, 5], [240, 244, 0, 23], [7, 5, 7, 23], [0, 14, 13, 4], [9, 5, 0, 21], [12, 16, 22, 1], [26, 10, 23, 9], [15, 32, 2, 15]] ways=[[11, 11, 3, 11], [11, 3, 0, 11], [1, 1, 9, 3], [1, 9, 11, 9], [1, 9, 1, 9], [2, 10, 11, 2], [7, 14, 15, 1], [14, 14, 9, 6]]
; run: halu, vp1, ptx: @gotoh items=100 bias=[4, 0, 128, 255] open=[11, 0, 128, 255] extend=[1, 0, 3, 255] length=9 stride=100 scores=random(900, 221) best_above=random(900, 222) gap_above=random(900, 223) best=zeros(900) gap=zeros(900) ways=zeros(900)
