; Deblocking filter of H.264 for edges of blocks that are not intra coded (bS < 4). The pixels across
; an edge are p2 p1 p0 | q0 q1 q2. If all steps are so small that coding caused them, the filter
; moves p0 and q0 toward each other, by at most tc. It also moves p1 and q1 if their side is smooth.
;
; Each item filters 16 columns of eight rows with the edge in the middle. The outermost rows do not change.
; `width` is the distance between rows, in vectors of 16 pixels. Columns with a negative tc0 are not filtered.

; Difference of the second pixel of a side to the mean of the edge and the third pixel.
fn toward(mean: i16x16, third: i16x16, second: i16x16) -> i8x16 {
  let hp = third + mean - (second << 1) >>_s 1
  narrow_sat_s(hp)
}

fn within(by: i8x16, limit: i8x16) -> i8x16 { min_s(max_s(by, -limit), limit) }

kernel deblock(width: i32, alpha: i8, beta: i8, tc0: i8x16, rows: inout i8x16) {
  let i = item_id()
  let i0 = i + width
  let i1 = i0 + width
  let i2 = i1 + width
  let i3 = i2 + width
  let i4 = i3 + width
  let (p2, p1, p0, q0, q1, q2) = (rows[i0], rows[i1], rows[i2], rows[i3], rows[i4], rows[i4 + width])
  let (near, beside) = (i8x16(alpha), i8x16(beta))
  let limit = max_s(tc0, 0)
  let (dpq, dp1, dq1) = (absdiff_u(p0, q0), absdiff_u(p1, p0), absdiff_u(q1, q0))
  let (dp2, dq2) = (absdiff_u(p2, p0), absdiff_u(q2, q0))
  let filter = (tc0 >=_s 0) & (dpq <_u near) & (dp1 <_u beside) & (dq1 <_u beside)
  let (smooth_p, smooth_q) = (dp2 <_u beside, dq2 <_u beside)

  ; Moves p1 and q1 by at most tc0.
  let mean = zext.i16x16(avg_u(p0, q0))
  let (wp1, wp0, wq0, wq1) = (zext.i16x16(p1), zext.i16x16(p0), zext.i16x16(q0), zext.i16x16(q1))
  let (np, nq) = (toward(mean, zext(p2), wp1), toward(mean, zext(q2), wq1))
  let (cp, cq) = (within(np, limit), within(nq, limit))
  let (mp, mq) = (select(filter & smooth_p, cp, 0), select(filter & smooth_q, cq, 0))
  let (yp, yq) = (wp1 + sext.i16x16(mp), wq1 + sext.i16x16(mq))
  let (rp1, rq1) = (narrow_sat_u.i8x16(yp), narrow_sat_u.i8x16(yq))

  ; Moves p0 and q0 by at most tc.
  let (more_p, more_q) = (select(smooth_p, 1i8x16, 0), select(smooth_q, 1i8x16, 0))
  let wide = add_sat_s(add_sat_s(limit, more_p), more_q)
  let tc = select(filter, wide, 0)
  let sum = (wq0 - wp0 << 2) + (wp1 - wq1)
  let delta = sext.i16x16(within(narrow_sat_s(round_shr_s(sum, 3)), tc))
  let (rp0, rq0) = (narrow_sat_u.i8x16(wp0 + delta), narrow_sat_u.i8x16(wq0 - delta))
  rows[i1] = rp1
  rows[i2] = rp0
  rows[i3] = rq0
  rows[i4] = rq1
}

; run: halu, vp1, ptx: @deblock items=1 width=1 alpha=20 beta=8 tc0=[4, 4, 0, 0, 1, 1, 1, 1, 3, 3, 3, 3, -1, -1, 9, 9] rows=[[181, 220, 160, 215, 19, 192, 125, 174, 100, 109, 30, 110, 129, 197, 60, 154], [0, 255, 158, 214, 19, 192, 126, 172, 100, 112, 32, 110, 130, 199, 58, 155], [1, 254, 157, 215, 19, 195, 124, 170, 102, 111, 30, 108, 131, 201, 58, 158], [0, 255, 161, 217, 19, 192, 126, 172, 99, 111, 29, 111, 131, 199, 57, 157], [5, 249, 149, 223, 11, 223, 122, 202, 94, 117, 60, 124, 121, 211, 90, 162], [9, 246, 150, 222, 11, 223, 123, 202, 96, 118, 61, 122, 120, 210, 86, 162], [6, 249, 150, 221, 10, 221, 123, 202, 94, 115, 61, 122, 121, 209, 86, 162], [182, 214, 149, 221, 12, 223, 120, 204, 98, 117, 62, 120, 121, 213, 89, 164]] -> rows=[[181, 220, 160, 215, 19, 192, 125, 174, 100, 109, 30, 110, 129, 197, 60, 154], [0, 255, 158, 214, 19, 192, 126, 172, 100, 112, 32, 110, 130, 199, 58, 155], [1, 253, 157, 215, 18, 195, 125, 170, 99, 113, 30, 111, 131, 201, 58, 157], [2, 253, 159, 219, 16, 192, 124, 172, 97, 113, 29, 116, 131, 199, 57, 159], [3, 251, 151, 221, 14, 223, 124, 202, 96, 115, 60, 119, 121, 211, 90, 160], [5, 250, 150, 222, 12, 223, 123, 202, 95, 115, 61, 120, 120, 210, 86, 161], [6, 249, 150, 221, 10, 221, 123, 202, 94, 115, 61, 122, 121, 209, 86, 162], [182, 214, 149, 221, 12, 223, 120, 204, 98, 117, 62, 120, 121, 213, 89, 164]]
; run: halu, vp1, ptx: @deblock items=1001 width=1001 alpha=255 beta=90 tc0=[25, 9, 4, 2, 1, 0, -1, -128, 127, 126, 64, 17, 6, 3, 13, 1] rows=random(8008, 81)

; A photograph of 128 by 128 pixels, at the edges of the blocks of 8 by 8 pixels in which it was coded.
; run: halu, vp1, ptx: @deblock items=120 width=120 alpha=40 beta=11 tc0=[3, 3, 3, 3, 2, 2, 2, 2, 5, 5, 5, 5, -1, -1, -1, -1] rows=@chelsea-edges.npy
