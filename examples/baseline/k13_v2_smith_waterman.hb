; Cell of a Smith-Waterman alignment, two alignments in the half-words of a word. The best score is
; the maximum of these values: the diagonal neighbour plus the score of the two letters, a gap in
; either sequence, and 0. Each item reads the best score of the diagonal neighbour, its two gaps
; and its score. It writes the best score, the gaps for the next cells, and a gap that opens here.
kernel @k13_v2_smith_waterman(%x: in i16x2 align 16, %y: out i16x2 align 16, %open: i16x2, %extend: i16x2) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %diagonal = load %x[%j]
  %e = load %x[%j + 1]
  %f = load %x[%j + 2]
  %score = load %x[%j + 3]
  %none = const.i16x2 0
  %match = add.i16x2 %diagonal, %score
  %m = max_s.i16x2 %match, %e
  %n = max_s.i16x2 %m, %f
  %best = max_s.i16x2 %n, %none
  %opened = sub.i16x2 %best, %open
  %longer_e = sub.i16x2 %e, %extend
  %next_e = max_s.i16x2 %opened, %longer_e
  %longer_f = sub.i16x2 %f, %extend
  %next_f = max_s.i16x2 %opened, %longer_f
  store %best, %y[%j]
  store %next_e, %y[%j + 1]
  store %next_f, %y[%j + 2]
  store %opened, %y[%j + 3]
  ret
}

; run: halu, vp1, ptx: @k13_v2_smith_waterman items=3 x=[[20, 0], [5, 30], [12, 9], [4, -3], [0, 0], [-2, -7], [-1, -9], [-4, -1], [32767, 100], [3, 1], [2, 1], [1, 5]] y=zeros(12) open=11 extend=1 -> y=[[24, 30], [13, 29], [13, 19], [13, 19], [0, 0], [-3, -8], [-2, -10], [-11, -11], [3, 105], [2, 94], [1, 94], [-8, 94]]
; run: halu, vp1, ptx: @k13_v2_smith_waterman items=300 x=random(1200, 22) y=zeros(1200) open=[11, 9] extend=[1, 2]
