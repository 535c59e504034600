; Smith and Waterman's alignment of sequences with gaps that open and go on, four pairs of sequences in the bytes of a word, four alignments a group:
; the best score of each. Item i has letter i of %a, a row of the table of scores; the group goes over the table by antidiagonals, item i being
; in column d - i in step d. The row above comes by shared memory, where even and odd steps lie apart, so that one barrier a step is enough.
;
; A group has a power of two of items, at most 256, as many as %a has letters; %b has `length` letters, at least one. Sums are clamped to a byte: a score
; of 127 may be more. A letter that %b does not have, such as 255, fills up %a.
kernel @smith_waterman(%length: i32, %match: i8x4, %mismatch: i8x4, %open: i8x4, %extend: i8x4, %a: in i8x4, %b: in i8x4, %score: out i8x4) {
  shared %best: i8x4[514]
  shared %gap: i8x4[514]
  shared %most: i8x4[256]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %c257 = const.i32 257
  %none = const.i8x4 0
  %l = local_id
  %i = item_id
  %g = group_id
  %size = group_size
  %first = icmp.eq.i32 %l, %zero
  %letter = load %a[%i]
  %start = mul.i32 %g, %length
  %over = add.i32 %size, %length
  %steps = sub.i32 %over, %one
  br_if %first, ^border, ^step(%zero, %zero, %c257, %none, %none, %none, %none)
^border:
  ; Above the first row, where only the first item reads, no alignment has begun.
  store %none, %best[0]
  store %none, %gap[0]
  store %none, %best[257]
  store %none, %gap[257]
  br ^step(%zero, %zero, %c257, %none, %none, %none, %none)
^step(%d: i32, %from: i32, %to: i32, %diagonal: i8x4, %left: i8x4, %gap_left: i8x4, %top: i8x4):
  %j = sub.i32 %d, %l
  %in = icmp.lt_u.i32 %j, %length
  br_if %in, ^cell, ^next(%diagonal, %left, %gap_left, %top)
^cell:
  %at = add.i32 %from, %l
  %above = load %best[%at]
  %gap_above = load %gap[%at]
  %column = add.i32 %start, %j
  %other = load %b[%column]
  %same = icmp.eq.i8x4 %letter, %other
  %s = select.i8x4 %same, %match, %mismatch
  %opened_right = sub_sat_s.i8x4 %left, %open
  %longer_right = sub_sat_s.i8x4 %gap_left, %extend
  %right = max_s.i8x4 %opened_right, %longer_right
  %opened_down = sub_sat_s.i8x4 %above, %open
  %longer_down = sub_sat_s.i8x4 %gap_above, %extend
  %down = max_s.i8x4 %opened_down, %longer_down
  %matched = add_sat_s.i8x4 %diagonal, %s
  %m = max_s.i8x4 %matched, %right
  %n = max_s.i8x4 %m, %down
  %here = max_s.i8x4 %n, %none
  %place = add.i32 %to, %l
  store %here, %best[%place + 1]
  store %down, %gap[%place + 1]
  %top1 = max_s.i8x4 %top, %here
  br ^next(%above, %here, %right, %top1)
^next(%diagonal1: i8x4, %left1: i8x4, %gap_left1: i8x4, %top2: i8x4):
  barrier
  %d1 = add.i32 %d, %one
  %more = icmp.lt_u.i32 %d1, %steps
  br_if %more, ^step(%d1, %to, %from, %diagonal1, %left1, %gap_left1, %top2), ^reduce
^reduce:
  store %top2, %most[%l]
  barrier
  %half = shr_u.i32 %size, %one
  br ^tree(%half)
^tree(%h: i32):
  %on = icmp.ne.i32 %h, %zero
  br_if %on, ^level, ^give
^level:
  %lower = icmp.lt_u.i32 %l, %h
  br_if %lower, ^greater, ^wait
^greater:
  %o = add.i32 %l, %h
  %p = load %most[%l]
  %q = load %most[%o]
  %r = max_s.i8x4 %p, %q
  store %r, %most[%l]
  br ^wait
^wait:
  barrier
  %h1 = shr_u.i32 %h, %one
  br ^tree(%h1)
^give:
  br_if %first, ^write, ^end
^write:
  %t = load %most[0]
  store %t, %score[%g]
  br ^end
^end:
  ret
}
; run: halu, ptx: @smith_waterman grid=2 block=32 length=50 match=5 mismatch=-4 open=[11, 127, 0, -128] extend=[1, 2, 127, -1] a=random(64, 27) b=random(100, 28) score=zeros(2)
; run: halu, ptx: @smith_waterman grid=2 block=32 length=24 match=[5, 5, 2, 6] mismatch=[-4, -4, -1, -3] open=[10, 10, 3, 8] extend=[1, 1, 1, 2] a=[[71, 67, 65, 67], [65, 65, 67, 71], [84, 67, 84, 84], [84, 67, 65, 84], [65, 71, 67, 71], [67, 71, 65, 71], [71, 84, 84, 84], [67, 71, 84, 67], [65, 65, 84, 71], [67, 65, 67, 65], [65, 67, 84, 65], [84, 71, 65, 84], [71, 65, 71, 67], [84, 67, 84, 84], [71, 67, 84, 71], [84, 65, 65, 71], [67, 84, 71, 84], [84, 84, 67, 67], [67, 84, 71, 84], [65, 71, 84, 65], [84, 71, 71, 84], [71, 71, 67, 84], [65, 65, 71, 65], [65, 84, 71, 71], [71, 71, 71, 71], [84, 67, 71, 71], [67, 84, 67, 65], [84, 65, 65, 84], [65, 84, 71, 65], [65, 67, 65, 65], [84, 65, 67, 71], [65, 65, 67, 67], [65, 67, 67, 65], [84, 67, 71, 65], [71, 65, 67, 71], [84, 67, 71, 67], [67, 84, 67, 65], [67, 67, 71, 65], [67, 84, 67, 71], [65, 67, 71, 65], [65, 67, 84, 65], [71, 65, 67, 67], [65, 71, 71, 67], [65, 67, 71, 65], [71, 71, 84, 84], [67, 65, 65, 67], [71, 84, 84, 71], [71, 71, 84, 65], [84, 71, 71, 65], [71, 65, 84, 84], [67, 67, 65, 71], [67, 65, 84, 67], [71, 84, 65, 71], [67, 71, 65, 84], [71, 84, 65, 67], [71, 67, 84, 255], [65, 71, 65, 255], [84, 65, 67, 255], [67, 65, 255, 255], [65, 84, 255, 255], [67, 67, 255, 255], [67, 255, 255, 255], [84, 255, 255, 255], [84, 255, 255, 255]] b=[[84, 67, 84, 84], [84, 67, 65, 84], [65, 71, 67, 71], [67, 71, 65, 71], [67, 71, 84, 84], [65, 65, 84, 67], [67, 65, 84, 71], [65, 71, 67, 65], [84, 71, 84, 65], [71, 67, 65, 84], [84, 67, 65, 67], [71, 65, 71, 84], [84, 84, 84, 71], [67, 84, 67, 71], [84, 84, 65, 84], [67, 71, 71, 67], [65, 71, 71, 84], [71, 67, 67, 65], [65, 65, 71, 84], [71, 84, 84, 84], [71, 71, 71, 65], [84, 67, 67, 71], [67, 84, 71, 71], [84, 65, 71, 71], [71, 65, 84, 71], [84, 67, 84, 65], [67, 84, 71, 71], [67, 67, 67, 65], [67, 84, 71, 65], [65, 67, 67, 71], [65, 67, 71, 84], [71, 65, 84, 67], [65, 65, 67, 84], [65, 71, 71, 71], [71, 67, 71, 67], [67, 71, 84, 65], [71, 65, 65, 67], [71, 84, 84, 84], [84, 71, 71, 67], [71, 71, 71, 84], [67, 65, 65, 67], [67, 67, 65, 67], [71, 65, 84, 71], [67, 84, 65, 67], [71, 67, 65, 84], [71, 84, 65, 71], [65, 67, 84, 67], [84, 71, 65, 67]] -> score=[[91, 82, 35, 127], [120, 96, 38, 39]]
