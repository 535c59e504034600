; The deblocking filter of H.264 where blocks meet that are not intra coded (bS < 4). Across the edge lie p2 p1 p0 | q0 q1 q2.
; Where all steps are so small that they come from coding and not from the picture, the two pixels at the edge move toward
; each other by a difference that is clipped to tc, and so do the next two where their side is smooth.
;
; An item takes 16 columns of eight rows with the edge in their middle, of which the outermost stay; `width` is the distance of
; rows in vectors of 16 pixels. Columns with a negative tc0 are not filtered.
kernel @deblock(%width: i32, %alpha: i8, %beta: i8, %tc0: i8x16, %rows: inout i8x16) {
^entry:
  %i = item_id
  %i0 = add.i32 %i, %width
  %i1 = add.i32 %i0, %width
  %i2 = add.i32 %i1, %width
  %i3 = add.i32 %i2, %width
  %i4 = add.i32 %i3, %width
  %i5 = add.i32 %i4, %width
  %p2 = load %rows[%i0]
  %p1 = load %rows[%i1]
  %p0 = load %rows[%i2]
  %q0 = load %rows[%i3]
  %q1 = load %rows[%i4]
  %q2 = load %rows[%i5]
  %va = splat.i8x16 %alpha
  %vb = splat.i8x16 %beta
  %none = const.i8x16 0
  %one = const.i8x16 1
  %limit = max_s.i8x16 %tc0, %none

  %dpq = absdiff_u.i8x16 %p0, %q0
  %dp1 = absdiff_u.i8x16 %p1, %p0
  %dq1 = absdiff_u.i8x16 %q1, %q0
  %dp2 = absdiff_u.i8x16 %p2, %p0
  %dq2 = absdiff_u.i8x16 %q2, %q0
  %on = icmp.ge_s.i8x16 %tc0, %none
  %smallpq = icmp.lt_u.i8x16 %dpq, %va
  %smallp1 = icmp.lt_u.i8x16 %dp1, %vb
  %smallq1 = icmp.lt_u.i8x16 %dq1, %vb
  %both = and.i1x16 %on, %smallpq
  %three = and.i1x16 %both, %smallp1
  %filter = and.i1x16 %three, %smallq1
  %smoothp = icmp.lt_u.i8x16 %dp2, %vb
  %smoothq = icmp.lt_u.i8x16 %dq2, %vb
  %movep = and.i1x16 %filter, %smoothp
  %moveq = and.i1x16 %filter, %smoothq

  ; p1 and q1, by at most tc0.
  %mean = avg_u.i8x16 %p0, %q0
  %wp2 = zext.i16x16 %p2
  %wp1 = zext.i16x16 %p1
  %wp0 = zext.i16x16 %p0
  %wq0 = zext.i16x16 %q0
  %wq1 = zext.i16x16 %q1
  %wq2 = zext.i16x16 %q2
  %wmean = zext.i16x16 %mean
  %w1 = const.i16x16 1
  %w2 = const.i16x16 2
  %w3 = const.i16x16 3
  %sp = add.i16x16 %wp2, %wmean
  %tp = shl.i16x16 %wp1, %w1
  %up = sub.i16x16 %sp, %tp
  %hp = shr_s.i16x16 %up, %w1
  %np = narrow_sat_s.i8x16 %hp
  %sq = add.i16x16 %wq2, %wmean
  %tq = shl.i16x16 %wq1, %w1
  %uq = sub.i16x16 %sq, %tq
  %hq = shr_s.i16x16 %uq, %w1
  %nq = narrow_sat_s.i8x16 %hq
  %least = neg.i8x16 %limit
  %ap = max_s.i8x16 %np, %least
  %cp = min_s.i8x16 %ap, %limit
  %aq = max_s.i8x16 %nq, %least
  %cq = min_s.i8x16 %aq, %limit
  %mp = select.i8x16 %movep, %cp, %none
  %mq = select.i8x16 %moveq, %cq, %none
  %xp = sext.i16x16 %mp
  %xq = sext.i16x16 %mq
  %yp = add.i16x16 %wp1, %xp
  %yq = add.i16x16 %wq1, %xq
  %rp1 = narrow_sat_u.i8x16 %yp
  %rq1 = narrow_sat_u.i8x16 %yq

  ; p0 and q0, by at most tc.
  %morep = select.i8x16 %smoothp, %one, %none
  %moreq = select.i8x16 %smoothq, %one, %none
  %tc1 = add_sat_s.i8x16 %limit, %morep
  %tc2 = add_sat_s.i8x16 %tc1, %moreq
  %tc = select.i8x16 %filter, %tc2, %none
  %step = sub.i16x16 %wq0, %wp0
  %four = shl.i16x16 %step, %w2
  %outer = sub.i16x16 %wp1, %wq1
  %sum = add.i16x16 %four, %outer
  %eighth = round_shr_s.i16x16 %sum, %w3
  %wide = narrow_sat_s.i8x16 %eighth
  %ntc = neg.i8x16 %tc
  %above = max_s.i8x16 %wide, %ntc
  %delta = min_s.i8x16 %above, %tc
  %wd = sext.i16x16 %delta
  %yp0 = add.i16x16 %wp0, %wd
  %yq0 = sub.i16x16 %wq0, %wd
  %rp0 = narrow_sat_u.i8x16 %yp0
  %rq0 = narrow_sat_u.i8x16 %yq0
  store %rp1, %rows[%i1]
  store %rp0, %rows[%i2]
  store %rq0, %rows[%i3]
  store %rq1, %rows[%i4]
  ret
}

; run: halu, vp1, ptx: @deblock items=1 width=1 alpha=20 beta=8 tc0=[4, 4, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3, -1, -1, 9, 9] rows=[[181, 220, 160, 215, 19, 192, 125, 174, 100, 109, 30, 110, 129, 197, 60, 154], [0, 255, 158, 214, 19, 192, 126, 172, 100, 112, 32, 110, 130, 199, 58, 155], [1, 254, 157, 215, 19, 195, 124, 170, 102, 111, 30, 108, 131, 201, 58, 158], [0, 255, 161, 217, 19, 192, 126, 172, 99, 111, 29, 111, 131, 199, 57, 157], [5, 249, 149, 223, 11, 223, 122, 202, 94, 117, 60, 124, 121, 211, 90, 162], [9, 246, 150, 222, 11, 223, 123, 202, 96, 118, 61, 122, 120, 210, 86, 162], [6, 249, 150, 221, 10, 221, 123, 202, 94, 115, 61, 122, 121, 209, 86, 162], [182, 214, 149, 221, 12, 223, 120, 204, 98, 117, 62, 120, 121, 213, 89, 164]] -> rows=[[181, 220, 160, 215, 19, 192, 125, 174, 100, 109, 30, 110, 129, 197, 60, 154], [0, 255, 158, 214, 19, 192, 126, 172, 100, 112, 32, 110, 130, 199, 58, 155], [1, 253, 157, 215, 18, 195, 125, 170, 99, 113, 30, 111, 131, 201, 58, 157], [2, 253, 159, 219, 16, 192, 124, 172, 97, 113, 29, 116, 131, 199, 57, 159], [3, 251, 151, 221, 14, 223, 124, 202, 96, 115, 60, 119, 121, 211, 90, 160], [5, 250, 150, 222, 12, 223, 123, 202, 95, 115, 61, 120, 120, 210, 86, 161], [6, 249, 150, 221, 10, 221, 123, 202, 94, 115, 61, 122, 121, 209, 86, 162], [182, 214, 149, 221, 12, 223, 120, 204, 98, 117, 62, 120, 121, 213, 89, 164]]
; run: halu, vp1, ptx: @deblock items=1001 width=1001 alpha=255 beta=90 tc0=[25, 9, 4, 2, 1, 0, -1, -128, 127, 126, 64, 17, 6, 3, 13, 1] rows=random(8008, 81)

; Where the blocks of 8 by 8 pixels meet that a photograph of 128 by 128 pixels was coded in.
; run: halu, vp1, ptx: @deblock items=120 width=120 alpha=40 beta=11 tc0=[3, 3, 3, 3, 2, 2, 2, 2, 5, 5, 5, 5, -1, -1, -1, -1] rows=@chelsea-edges.npy
