; Smith and Waterman's alignment of protein sequences, two alignments in the halfwords of a word: the best way to a cell
; of the matrix is the best to its diagonal neighbour and the score of the two letters, or a gap in either sequence, or
; none.
;
; A query is aligned with two sequences an item. A letter is a number below 32; the scores of two letters lie in a table
; of 32 rows of 32. Row after row of the matrix, a letter of the query each, the item goes along its sequences: letter k
; of item i is pair i + k * item_count. What a row leaves to the next, the best ways and the gaps that come down, is kept
; in memory, and is 0 at first. There is at least one row and one column.
kernel @smith_waterman_i16(%open: i16x2, %extend: i16x2, %rows: i32, %columns: i32, %query: in i8, %sequences: in i8, %table: in i16,
               %best: inout i16x2, %gap: inout i16x2, %most: out i16x2) {
^entry:
  %i = item_id
  %items = item_count
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  %five = const.i32 5
  %letters = const.i32 31
  %none = const.i16x2 0
  br ^row(%zero, %none)
^row(%r: i32, %most0: i16x2):
  %q8 = load %query[%r]
  %q = zext.i32 %q8
  %ql = and.i32 %q, %letters
  %of = shl.i32 %ql, %five
  br ^column(%zero, %i, %none, %none, %none, %most0)
^column(%k: i32, %at: i32, %diagonal: i16x2, %left: i16x2, %gap_left: i16x2, %most1: i16x2):
  %pair = mul.i32 %at, %two
  %a8 = load %sequences[%pair]
  %b8 = load %sequences[%pair + 1]
  %a = zext.i32 %a8
  %b = zext.i32 %b8
  %al = and.i32 %a, %letters
  %bl = and.i32 %b, %letters
  %ta = or.i32 %of, %al
  %tb = or.i32 %of, %bl
  %sa = load %table[%ta]
  %sb = load %table[%tb]
  %score = concat.i16x2 %sa, %sb
  %above = load %best[%at]
  %gap_down = load %gap[%at]
  %opened_right = sub.i16x2 %left, %open
  %longer_right = sub.i16x2 %gap_left, %extend
  %right = max_s.i16x2 %opened_right, %longer_right
  %opened_down = sub.i16x2 %above, %open
  %longer_down = sub.i16x2 %gap_down, %extend
  %down = max_s.i16x2 %opened_down, %longer_down
  %match = add.i16x2 %diagonal, %score
  %m = max_s.i16x2 %match, %right
  %n = max_s.i16x2 %m, %down
  %here = max_s.i16x2 %n, %none
  %most2 = max_s.i16x2 %most1, %here
  store %here, %best[%at]
  store %down, %gap[%at]
  %k1 = add.i32 %k, %one
  %next = add.i32 %at, %items
  %on = icmp.lt_s.i32 %k1, %columns
  br_if %on, ^column(%k1, %next, %above, %here, %right, %most2), ^below
^below:
  %r1 = add.i32 %r, %one
  %more = icmp.lt_s.i32 %r1, %rows
  br_if %more, ^row(%r1, %most2), ^done
^done:
  store %most2, %most[%i]
  ret
}

; run: halu, vp1, ptx: @smith_waterman_i16 items=2 open=11 extend=1 rows=3 columns=4 query=[0, 4, 2] sequences=[0, 1, 5, 5, 4, 0, 0, 2, 2, 4, 4, 9, 9, 2, 2, 2] table=@blosum62-i16.npy best=zeros(8) gap=zeros(8) most=zeros(2) -> most=[[19, 19], [19, 6]]
; run: halu, vp1, ptx: @smith_waterman_i16 items=33 open=3 extend=[1, 2] rows=3 columns=2 query=random(3, 381) sequences=random(132, 382) table=random(1024, 383) best=zeros(66) gap=zeros(66) most=zeros(33)
; run: halu, ptx: @smith_waterman_i16 items=33 open=3 extend=[1, 2] rows=5 columns=7 query=random(5, 381) sequences=random(462, 382) table=random(1024, 383) best=zeros(231) gap=zeros(231) most=zeros(33)

; Human haemoglobin alpha with beta and with myoglobin, by BLOSUM62.
; run: halu, ptx: @smith_waterman_i16 items=1 open=11 extend=1 rows=142 columns=154 query=@haemoglobin.npy sequences=@globins.npy table=@blosum62-i16.npy best=zeros(154) gap=zeros(154) most=zeros(1) -> most=[[288, 124]]
