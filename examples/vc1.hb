; The loop filter of VC-1 across an edge of blocks: eight pixels p0 to p7 with the edge in their middle. How much they bend is
; measured at the edge and to both sides of it; where it bends more at the edge than at the smoother side, p3 and p4 move toward
; each other, by as much as they bend too much but not beyond their mean.
;
; An item takes 16 columns of the eight rows; `width` is the distance of rows in vectors of 16 pixels. `limit`, the quantiser,
; is at most 127.
kernel @vc1(%width: i32, %limit: i8, %rows: inout i8x16) {
^entry:
  %i = item_id
  %i1 = add.i32 %i, %width
  %i2 = add.i32 %i1, %width
  %i3 = add.i32 %i2, %width
  %i4 = add.i32 %i3, %width
  %i5 = add.i32 %i4, %width
  %i6 = add.i32 %i5, %width
  %i7 = add.i32 %i6, %width
  %b0 = load %rows[%i]
  %b1 = load %rows[%i1]
  %b2 = load %rows[%i2]
  %b3 = load %rows[%i3]
  %b4 = load %rows[%i4]
  %b5 = load %rows[%i5]
  %b6 = load %rows[%i6]
  %b7 = load %rows[%i7]
  %vl = splat.i8x16 %limit
  %none = const.i8x16 0
  %most = const.i8x16 127
  %one = const.i16x16 1
  %two = const.i16x16 2
  %three = const.i16x16 3
  %five = const.i16x16 5
  %p0 = zext.i16x16 %b0
  %p1 = zext.i16x16 %b1
  %p2 = zext.i16x16 %b2
  %p3 = zext.i16x16 %b3
  %p4 = zext.i16x16 %b4
  %p5 = zext.i16x16 %b5
  %p6 = zext.i16x16 %b6
  %p7 = zext.i16x16 %b7

  ; (2 (a - d) - 5 (b - c) + 4) >> 3 of four neighbours a b c d: of p2 to p5, p0 to p3 and p4 to p7.
  %far0 = sub.i16x16 %p2, %p5
  %near0 = sub.i16x16 %p3, %p4
  %twice0 = mul.i16x16 %far0, %two
  %five0 = mul.i16x16 %near0, %five
  %bend0 = sub.i16x16 %twice0, %five0
  %eighth0 = round_shr_s.i16x16 %bend0, %three
  %a0 = narrow_sat_s.i8x16 %eighth0
  %far1 = sub.i16x16 %p0, %p3
  %near1 = sub.i16x16 %p1, %p2
  %twice1 = mul.i16x16 %far1, %two
  %five1 = mul.i16x16 %near1, %five
  %bend1 = sub.i16x16 %twice1, %five1
  %eighth1 = round_shr_s.i16x16 %bend1, %three
  %a1 = narrow_sat_s.i8x16 %eighth1
  %far2 = sub.i16x16 %p4, %p7
  %near2 = sub.i16x16 %p5, %p6
  %twice2 = mul.i16x16 %far2, %two
  %five2 = mul.i16x16 %near2, %five
  %bend2 = sub.i16x16 %twice2, %five2
  %eighth2 = round_shr_s.i16x16 %bend2, %three
  %a2 = narrow_sat_s.i8x16 %eighth2

  ; The bend at the edge, and that of the smoother side.
  %abs0 = abs.i8x16 %a0
  %edge = min_u.i8x16 %abs0, %most
  %abs1 = abs.i8x16 %a1
  %abs2 = abs.i8x16 %a2
  %lesser = min_u.i8x16 %abs1, %abs2
  %side = min_u.i8x16 %lesser, %most
  %small = icmp.lt_u.i8x16 %edge, %vl
  %sharp = icmp.gt_u.i8x16 %edge, %side

  ; Half of what p3 and p4 differ, toward zero, and 5/8 of what the bend is too much.
  %apart = absdiff_u.i8x16 %b3, %b4
  %k1 = const.i8x16 1
  %halfway = shr_u.i8x16 %apart, %k1
  %excess = sub_sat_u.i8x16 %edge, %side
  %wide = zext.i16x16 %excess
  %times5 = mul.i16x16 %wide, %five
  %move8 = shr_u.i16x16 %times5, %three
  %move = narrow_sat_uu.i8x16 %move8
  %d = min_u.i8x16 %move, %halfway

  ; The edge moves only if it bends against its own step.
  %falls = icmp.gt_u.i8x16 %b3, %b4
  %bent = icmp.lt_s.i8x16 %a0, %none
  %against = xor.i1x16 %falls, %bent
  %same = not.i1x16 %against
  %fits = and.i1x16 %small, %sharp
  %moves = and.i1x16 %fits, %same
  %size = select.i8x16 %moves, %d, %none
  %opposite = neg.i8x16 %size
  %by = select.i8x16 %falls, %size, %opposite
  %wby = sext.i16x16 %by
  %n3 = sub.i16x16 %p3, %wby
  %n4 = add.i16x16 %p4, %wby
  %r3 = narrow_sat_u.i8x16 %n3
  %r4 = narrow_sat_u.i8x16 %n4
  store %r3, %rows[%i3]
  store %r4, %rows[%i4]
  ret
}

; run: halu, vp1, ptx: @vc1 items=1 width=1 limit=9 rows=[[3, 250, 63, 48, 220, 200, 160, 184, 62, 191, 179, 48, 190, 125, 160, 114], [2, 251, 62, 50, 221, 201, 161, 183, 63, 192, 179, 48, 189, 124, 160, 115], [1, 253, 61, 52, 224, 202, 162, 182, 63, 192, 178, 49, 189, 123, 161, 114], [0, 255, 60, 54, 227, 203, 163, 181, 65, 192, 179, 47, 189, 125, 162, 115], [4, 246, 66, 59, 234, 216, 195, 175, 57, 198, 191, 43, 195, 155, 170, 118], [3, 247, 65, 62, 237, 218, 195, 175, 59, 199, 191, 43, 196, 154, 171, 118], [3, 248, 64, 64, 239, 217, 196, 173, 60, 201, 190, 43, 196, 153, 173, 118], [3, 250, 63, 67, 242, 219, 197, 173, 61, 201, 191, 43, 196, 154, 174, 119]] -> rows=[[3, 250, 63, 48, 220, 200, 160, 184, 62, 191, 179, 48, 190, 125, 160, 114], [2, 251, 62, 50, 221, 201, 161, 183, 63, 192, 179, 48, 189, 124, 160, 115], [1, 253, 61, 52, 224, 202, 162, 182, 63, 192, 178, 49, 189, 123, 161, 114], [1, 253, 61, 54, 227, 205, 163, 180, 63, 193, 180, 47, 190, 125, 163, 115], [3, 248, 65, 59, 234, 214, 195, 176, 59, 197, 190, 43, 194, 155, 169, 118], [3, 247, 65, 62, 237, 218, 195, 175, 59, 199, 191, 43, 196, 154, 171, 118], [3, 248, 64, 64, 239, 217, 196, 173, 60, 201, 190, 43, 196, 153, 173, 118], [3, 250, 63, 67, 242, 219, 197, 173, 61, 201, 191, 43, 196, 154, 174, 119]]
; run: halu, vp1, ptx: @vc1 items=1001 width=1001 limit=127 rows=random(8008, 91)

; Where the blocks of 8 by 8 pixels meet that a photograph of 128 by 128 pixels was coded in.
; run: halu, vp1, ptx: @vc1 items=120 width=120 limit=12 rows=@chelsea-edges.npy
