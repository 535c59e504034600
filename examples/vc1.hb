; Loop filter of VC-1 across an edge of blocks, on eight pixels p0 to p7 with the edge in the middle. The
; filter measures the curvature at the edge and on both sides. If the curvature at the edge exceeds that
; of the smoother side, it moves p3 and p4 toward each other by the excess, but not beyond their mean.
;
; Each item filters 16 columns of the eight rows. `width` is the distance
; between rows, in vectors of 16 pixels. `limit`, the quantiser, is at most 127.

; Curvature of four neighbours: (2 (a - d) - 5 (b - c) + 4) >> 3.
fn bend(a: i16x16, b: i16x16, c: i16x16, d: i16x16) -> i8x16 { narrow_sat_s(round_shr_s((a - d) * 2 - (b - c) * 5, 3)) }

kernel vc1(width: i32, limit: i8, rows: inout i8x16) {
  let i = item_id()
  let i1 = i + width
  let i2 = i1 + width
  let i3 = i2 + width
  let i4 = i3 + width
  let i5 = i4 + width
  let i6 = i5 + width
  let (b0, b1, b2, b3, b4, b5, b6, b7) = (rows[i], rows[i1], rows[i2], rows[i3], rows[i4], rows[i5], rows[i6], rows[i6 + width])
  let most = i8x16(limit)
  let (p2, p3, p4, p5) = (zext.i16x16(b2), zext.i16x16(b3), zext.i16x16(b4), zext.i16x16(b5))
  let at_edge = bend(p2, p3, p4, p5)
  let before = bend(zext(b0), zext(b1), p2, p3)
  let after = bend(p4, p5, zext(b6), zext(b7))
  ; The curvature at the edge, and that of the smoother side.
  let edge = min_u(abs(at_edge), 127)
  let side = min_u(min_u(abs(before), abs(after)), 127)
  ; Half of the difference of p3 and p4, rounded toward zero, and 5/8 of the excess curvature.
  let halfway = absdiff_u(b3, b4) >>_u 1
  let move = narrow_sat_uu.i8x16(zext.i16x16(sub_sat_u(edge, side)) * 5 >>_u 3)
  let d = min_u(move, halfway)
  ; The edge moves only if its curvature is opposite to its step.
  let falls = b3 >_u b4
  let same = !(falls ^ (at_edge <_s 0))
  let moves = (edge <_u most) & (edge >_u side) & same
  let size = select(moves, d, 0)
  let by = sext.i16x16(select(falls, size, -size))
  rows[i3] = narrow_sat_u(p3 - by)
  rows[i4] = narrow_sat_u(p4 + by)
}

; run: halu, vp1, ptx: @vc1 items=1 width=1 limit=9 rows=[[3, 250, 63, 48, 220, 200, 160, 184, 62, 191, 179, 48, 190, 125, 160, 114], [2, 251, 62, 50, 221, 201, 161, 183, 63, 192, 179, 48, 189, 124, 160, 115], [1, 253, 61, 52, 224, 202, 162, 182, 63, 192, 178, 49, 189, 123, 161, 114], [0, 255, 60, 54, 227, 203, 163, 181, 65, 192, 179, 47, 189, 125, 162, 115], [4, 246, 66, 59, 234, 216, 195, 175, 57, 198, 191, 43, 195, 155, 170, 118], [3, 247, 65, 62, 237, 218, 195, 175, 59, 199, 191, 43, 196, 154, 171, 118], [3, 248, 64, 64, 239, 217, 196, 173, 60, 201, 190, 43, 196, 153, 173, 118], [3, 250, 63, 67, 242, 219, 197, 173, 61, 201, 191, 43, 196, 154, 174, 119]] -> rows=[[3, 250, 63, 48, 220, 200, 160, 184, 62, 191, 179, 48, 190, 125, 160, 114], [2, 251, 62, 50, 221, 201, 161, 183, 63, 192, 179, 48, 189, 124, 160, 115], [1, 253, 61, 52, 224, 202, 162, 182, 63, 192, 178, 49, 189, 123, 161, 114], [1, 253, 61, 54, 227, 205, 163, 180, 63, 193, 180, 47, 190, 125, 163, 115], [3, 248, 65, 59, 234, 214, 195, 176, 59, 197, 190, 43, 194, 155, 169, 118], [3, 247, 65, 62, 237, 218, 195, 175, 59, 199, 191, 43, 196, 154, 171, 118], [3, 248, 64, 64, 239, 217, 196, 173, 60, 201, 190, 43, 196, 153, 173, 118], [3, 250, 63, 67, 242, 219, 197, 173, 61, 201, 191, 43, 196, 154, 174, 119]]
; run: halu, vp1, ptx: @vc1 items=1001 width=1001 limit=127 rows=random(8008, 91)

; A photograph of 128 by 128 pixels, at the edges of the blocks of 8 by 8 pixels in which it was coded.
; run: halu, vp1, ptx: @vc1 items=120 width=120 limit=12 rows=@chelsea-edges.npy
