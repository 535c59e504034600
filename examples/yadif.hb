; yadif, the deinterlacer: of a picture that was sent in two fields, the lines that a field lacks. A pixel comes from the
; lines above and below, along that of five directions in which they fit best, and may not leave what the fields before
; and after have in its place by more than things have moved there.
;
; An item takes four pixels in a word. What fits a byte stays in bytes; the sums by which directions are compared need ten
; bits and differences of pixels a sign, so they are done in two words of halfwords, of pixels 0 and 1 and of 2 and 3.
;
; Lines are `width` words apart. Of `now`, the field, item i takes words i to i + 2 of two lines, which lie above and
; below the pixels; `before` and `after` are the fields of the same lines in the pictures before and after. `earlier` and
; `later` are the fields between, of which it takes word i + 1 of three lines; the middle one is that of the pixels.
kernel @yadif(%width: i32, %now: in i8x4, %before: in i8x4, %after: in i8x4, %earlier: in i8x4, %later: in i8x4, %line: out i8x4) {
^entry:
  %i = item_id
  %i1 = add.i32 %i, %width
  %i2 = add.i32 %i1, %width
  %none = const.i8x4 0
  %one = const.i8x4 1
  %al = load %now[%i]
  %ac = load %now[%i + 1]
  %ar = load %now[%i + 2]
  %before_a = load %before[%i + 1]
  %after_a = load %after[%i + 1]
  %bl = load %now[%i1]
  %bc = load %now[%i1 + 1]
  %br = load %now[%i1 + 2]
  %before_b = load %before[%i1 + 1]
  %after_b = load %after[%i1 + 1]
  %earlier0 = load %earlier[%i + 1]
  %later0 = load %later[%i + 1]
  %earlier1 = load %earlier[%i1 + 1]
  %later1 = load %later[%i1 + 1]
  %earlier2 = load %earlier[%i2 + 1]
  %later2 = load %later[%i2 + 1]

  ; The pixels beside, as far as three to the left and to the right.
  %am3 = shuffle.i8x4 %al, %ac, [1, 2, 3, 4]
  %am2 = shuffle.i8x4 %al, %ac, [2, 3, 4, 5]
  %am1 = shuffle.i8x4 %al, %ac, [3, 4, 5, 6]
  %ap1 = shuffle.i8x4 %ac, %ar, [1, 2, 3, 4]
  %ap2 = shuffle.i8x4 %ac, %ar, [2, 3, 4, 5]
  %ap3 = shuffle.i8x4 %ac, %ar, [3, 4, 5, 6]
  %bm3 = shuffle.i8x4 %bl, %bc, [1, 2, 3, 4]
  %bm2 = shuffle.i8x4 %bl, %bc, [2, 3, 4, 5]
  %bm1 = shuffle.i8x4 %bl, %bc, [3, 4, 5, 6]
  %bp1 = shuffle.i8x4 %bc, %br, [1, 2, 3, 4]
  %bp2 = shuffle.i8x4 %bc, %br, [2, 3, 4, 5]
  %bp3 = shuffle.i8x4 %bc, %br, [3, 4, 5, 6]

  ; How much the fields around differ, and what they have in the place of the pixels; averages are rounded down.
  %d_up = avg_u.i8x4 %earlier1, %later1
  %d_both = xor.i8x4 %earlier1, %later1
  %d_odd = and.i8x4 %d_both, %one
  %d = sub.i8x4 %d_up, %d_odd
  %moved = absdiff_u.i8x4 %earlier1, %later1
  %half_moved = shr_u.i8x4 %moved, %one
  %before_by_a = absdiff_u.i8x4 %before_a, %ac
  %before_by_b = absdiff_u.i8x4 %before_b, %bc
  %before_by_up = avg_u.i8x4 %before_by_a, %before_by_b
  %before_by_both = xor.i8x4 %before_by_a, %before_by_b
  %before_by_odd = and.i8x4 %before_by_both, %one
  %before_by = sub.i8x4 %before_by_up, %before_by_odd
  %after_by_a = absdiff_u.i8x4 %after_a, %ac
  %after_by_b = absdiff_u.i8x4 %after_b, %bc
  %after_by_up = avg_u.i8x4 %after_by_a, %after_by_b
  %after_by_both = xor.i8x4 %after_by_a, %after_by_b
  %after_by_odd = and.i8x4 %after_by_both, %one
  %after_by = sub.i8x4 %after_by_up, %after_by_odd
  %move1 = max_u.i8x4 %half_moved, %before_by
  %move2 = max_u.i8x4 %move1, %after_by

  ; How far the lines above and below differ in each direction, around the pixel.
  %straight0 = absdiff_u.i8x4 %am1, %bm1
  %straight0_lo8 = shuffle.i8x4 %straight0, %none, [0, 4, 1, 4]
  %straight0_lo = bitcast.i16x2 %straight0_lo8
  %straight0_hi8 = shuffle.i8x4 %straight0, %none, [2, 4, 3, 4]
  %straight0_hi = bitcast.i16x2 %straight0_hi8
  %straight1 = absdiff_u.i8x4 %ac, %bc
  %straight1_lo8 = shuffle.i8x4 %straight1, %none, [0, 4, 1, 4]
  %straight1_lo = bitcast.i16x2 %straight1_lo8
  %straight1_hi8 = shuffle.i8x4 %straight1, %none, [2, 4, 3, 4]
  %straight1_hi = bitcast.i16x2 %straight1_hi8
  %straight2 = absdiff_u.i8x4 %ap1, %bp1
  %straight2_lo8 = shuffle.i8x4 %straight2, %none, [0, 4, 1, 4]
  %straight2_lo = bitcast.i16x2 %straight2_lo8
  %straight2_hi8 = shuffle.i8x4 %straight2, %none, [2, 4, 3, 4]
  %straight2_hi = bitcast.i16x2 %straight2_hi8
  %straight_lo1 = add.i16x2 %straight0_lo, %straight1_lo
  %straight_lo2 = add.i16x2 %straight_lo1, %straight2_lo
  %straight_hi1 = add.i16x2 %straight0_hi, %straight1_hi
  %straight_hi2 = add.i16x2 %straight_hi1, %straight2_hi
  %straight_up = avg_u.i8x4 %ac, %bc
  %straight_both = xor.i8x4 %ac, %bc
  %straight_odd = and.i8x4 %straight_both, %one
  %straight = sub.i8x4 %straight_up, %straight_odd
  %left0 = absdiff_u.i8x4 %am2, %bc
  %left0_lo8 = shuffle.i8x4 %left0, %none, [0, 4, 1, 4]
  %left0_lo = bitcast.i16x2 %left0_lo8
  %left0_hi8 = shuffle.i8x4 %left0, %none, [2, 4, 3, 4]
  %left0_hi = bitcast.i16x2 %left0_hi8
  %left1 = absdiff_u.i8x4 %am1, %bp1
  %left1_lo8 = shuffle.i8x4 %left1, %none, [0, 4, 1, 4]
  %left1_lo = bitcast.i16x2 %left1_lo8
  %left1_hi8 = shuffle.i8x4 %left1, %none, [2, 4, 3, 4]
  %left1_hi = bitcast.i16x2 %left1_hi8
  %left2 = absdiff_u.i8x4 %ac, %bp2
  %left2_lo8 = shuffle.i8x4 %left2, %none, [0, 4, 1, 4]
  %left2_lo = bitcast.i16x2 %left2_lo8
  %left2_hi8 = shuffle.i8x4 %left2, %none, [2, 4, 3, 4]
  %left2_hi = bitcast.i16x2 %left2_hi8
  %left_lo1 = add.i16x2 %left0_lo, %left1_lo
  %left_lo2 = add.i16x2 %left_lo1, %left2_lo
  %left_hi1 = add.i16x2 %left0_hi, %left1_hi
  %left_hi2 = add.i16x2 %left_hi1, %left2_hi
  %left_up = avg_u.i8x4 %am1, %bp1
  %left_both = xor.i8x4 %am1, %bp1
  %left_odd = and.i8x4 %left_both, %one
  %left = sub.i8x4 %left_up, %left_odd
  %far_left0 = absdiff_u.i8x4 %am3, %bp1
  %far_left0_lo8 = shuffle.i8x4 %far_left0, %none, [0, 4, 1, 4]
  %far_left0_lo = bitcast.i16x2 %far_left0_lo8
  %far_left0_hi8 = shuffle.i8x4 %far_left0, %none, [2, 4, 3, 4]
  %far_left0_hi = bitcast.i16x2 %far_left0_hi8
  %far_left1 = absdiff_u.i8x4 %am2, %bp2
  %far_left1_lo8 = shuffle.i8x4 %far_left1, %none, [0, 4, 1, 4]
  %far_left1_lo = bitcast.i16x2 %far_left1_lo8
  %far_left1_hi8 = shuffle.i8x4 %far_left1, %none, [2, 4, 3, 4]
  %far_left1_hi = bitcast.i16x2 %far_left1_hi8
  %far_left2 = absdiff_u.i8x4 %am1, %bp3
  %far_left2_lo8 = shuffle.i8x4 %far_left2, %none, [0, 4, 1, 4]
  %far_left2_lo = bitcast.i16x2 %far_left2_lo8
  %far_left2_hi8 = shuffle.i8x4 %far_left2, %none, [2, 4, 3, 4]
  %far_left2_hi = bitcast.i16x2 %far_left2_hi8
  %far_left_lo1 = add.i16x2 %far_left0_lo, %far_left1_lo
  %far_left_lo2 = add.i16x2 %far_left_lo1, %far_left2_lo
  %far_left_hi1 = add.i16x2 %far_left0_hi, %far_left1_hi
  %far_left_hi2 = add.i16x2 %far_left_hi1, %far_left2_hi
  %far_left_up = avg_u.i8x4 %am2, %bp2
  %far_left_both = xor.i8x4 %am2, %bp2
  %far_left_odd = and.i8x4 %far_left_both, %one
  %far_left = sub.i8x4 %far_left_up, %far_left_odd
  %right0 = absdiff_u.i8x4 %ac, %bm2
  %right0_lo8 = shuffle.i8x4 %right0, %none, [0, 4, 1, 4]
  %right0_lo = bitcast.i16x2 %right0_lo8
  %right0_hi8 = shuffle.i8x4 %right0, %none, [2, 4, 3, 4]
  %right0_hi = bitcast.i16x2 %right0_hi8
  %right1 = absdiff_u.i8x4 %ap1, %bm1
  %right1_lo8 = shuffle.i8x4 %right1, %none, [0, 4, 1, 4]
  %right1_lo = bitcast.i16x2 %right1_lo8
  %right1_hi8 = shuffle.i8x4 %right1, %none, [2, 4, 3, 4]
  %right1_hi = bitcast.i16x2 %right1_hi8
  %right2 = absdiff_u.i8x4 %ap2, %bc
  %right2_lo8 = shuffle.i8x4 %right2, %none, [0, 4, 1, 4]
  %right2_lo = bitcast.i16x2 %right2_lo8
  %right2_hi8 = shuffle.i8x4 %right2, %none, [2, 4, 3, 4]
  %right2_hi = bitcast.i16x2 %right2_hi8
  %right_lo1 = add.i16x2 %right0_lo, %right1_lo
  %right_lo2 = add.i16x2 %right_lo1, %right2_lo
  %right_hi1 = add.i16x2 %right0_hi, %right1_hi
  %right_hi2 = add.i16x2 %right_hi1, %right2_hi
  %right_up = avg_u.i8x4 %ap1, %bm1
  %right_both = xor.i8x4 %ap1, %bm1
  %right_odd = and.i8x4 %right_both, %one
  %right = sub.i8x4 %right_up, %right_odd
  %far_right0 = absdiff_u.i8x4 %ap1, %bm3
  %far_right0_lo8 = shuffle.i8x4 %far_right0, %none, [0, 4, 1, 4]
  %far_right0_lo = bitcast.i16x2 %far_right0_lo8
  %far_right0_hi8 = shuffle.i8x4 %far_right0, %none, [2, 4, 3, 4]
  %far_right0_hi = bitcast.i16x2 %far_right0_hi8
  %far_right1 = absdiff_u.i8x4 %ap2, %bm2
  %far_right1_lo8 = shuffle.i8x4 %far_right1, %none, [0, 4, 1, 4]
  %far_right1_lo = bitcast.i16x2 %far_right1_lo8
  %far_right1_hi8 = shuffle.i8x4 %far_right1, %none, [2, 4, 3, 4]
  %far_right1_hi = bitcast.i16x2 %far_right1_hi8
  %far_right2 = absdiff_u.i8x4 %ap3, %bm1
  %far_right2_lo8 = shuffle.i8x4 %far_right2, %none, [0, 4, 1, 4]
  %far_right2_lo = bitcast.i16x2 %far_right2_lo8
  %far_right2_hi8 = shuffle.i8x4 %far_right2, %none, [2, 4, 3, 4]
  %far_right2_hi = bitcast.i16x2 %far_right2_hi8
  %far_right_lo1 = add.i16x2 %far_right0_lo, %far_right1_lo
  %far_right_lo2 = add.i16x2 %far_right_lo1, %far_right2_lo
  %far_right_hi1 = add.i16x2 %far_right0_hi, %far_right1_hi
  %far_right_hi2 = add.i16x2 %far_right_hi1, %far_right2_hi
  %far_right_up = avg_u.i8x4 %ap2, %bm2
  %far_right_both = xor.i8x4 %ap2, %bm2
  %far_right_odd = and.i8x4 %far_right_both, %one
  %far_right = sub.i8x4 %far_right_up, %far_right_odd

  ; The best direction. Straight down is taken unless another is better by one; a far one is looked at where the near one is better.
  %unit = const.i16x2 1
  %best0_lo = sub.i16x2 %straight_lo2, %unit
  %best0_hi = sub.i16x2 %straight_hi2, %unit
  %left_less_lo = icmp.lt_s.i16x2 %left_lo2, %best0_lo
  %best1_lo = select.i16x2 %left_less_lo, %left_lo2, %best0_lo
  %left_less_hi = icmp.lt_s.i16x2 %left_hi2, %best0_hi
  %best1_hi = select.i16x2 %left_less_hi, %left_hi2, %best0_hi
  %left_ones_lo = mask_expand.i16x2 %left_less_lo
  %left_bytes_lo = bitcast.i8x4 %left_ones_lo
  %left_ones_hi = mask_expand.i16x2 %left_less_hi
  %left_bytes_hi = bitcast.i8x4 %left_ones_hi
  %left_bytes = shuffle.i8x4 %left_bytes_lo, %left_bytes_hi, [0, 2, 4, 6]
  %left_mask = icmp.lt_s.i8x4 %left_bytes, %none
  %pixel1 = select.i8x4 %left_mask, %left, %straight
  %far_left_less_lo = icmp.lt_s.i16x2 %far_left_lo2, %best1_lo
  %far_left_is_lo = and.i1x2 %far_left_less_lo, %left_less_lo
  %best2_lo = select.i16x2 %far_left_is_lo, %far_left_lo2, %best1_lo
  %far_left_less_hi = icmp.lt_s.i16x2 %far_left_hi2, %best1_hi
  %far_left_is_hi = and.i1x2 %far_left_less_hi, %left_less_hi
  %best2_hi = select.i16x2 %far_left_is_hi, %far_left_hi2, %best1_hi
  %far_left_ones_lo = mask_expand.i16x2 %far_left_is_lo
  %far_left_bytes_lo = bitcast.i8x4 %far_left_ones_lo
  %far_left_ones_hi = mask_expand.i16x2 %far_left_is_hi
  %far_left_bytes_hi = bitcast.i8x4 %far_left_ones_hi
  %far_left_bytes = shuffle.i8x4 %far_left_bytes_lo, %far_left_bytes_hi, [0, 2, 4, 6]
  %far_left_mask = icmp.lt_s.i8x4 %far_left_bytes, %none
  %pixel2 = select.i8x4 %far_left_mask, %far_left, %pixel1
  %right_less_lo = icmp.lt_s.i16x2 %right_lo2, %best2_lo
  %best3_lo = select.i16x2 %right_less_lo, %right_lo2, %best2_lo
  %right_less_hi = icmp.lt_s.i16x2 %right_hi2, %best2_hi
  %best3_hi = select.i16x2 %right_less_hi, %right_hi2, %best2_hi
  %right_ones_lo = mask_expand.i16x2 %right_less_lo
  %right_bytes_lo = bitcast.i8x4 %right_ones_lo
  %right_ones_hi = mask_expand.i16x2 %right_less_hi
  %right_bytes_hi = bitcast.i8x4 %right_ones_hi
  %right_bytes = shuffle.i8x4 %right_bytes_lo, %right_bytes_hi, [0, 2, 4, 6]
  %right_mask = icmp.lt_s.i8x4 %right_bytes, %none
  %pixel3 = select.i8x4 %right_mask, %right, %pixel2
  %far_right_less_lo = icmp.lt_s.i16x2 %far_right_lo2, %best3_lo
  %far_right_is_lo = and.i1x2 %far_right_less_lo, %right_less_lo
  %best4_lo = select.i16x2 %far_right_is_lo, %far_right_lo2, %best3_lo
  %far_right_less_hi = icmp.lt_s.i16x2 %far_right_hi2, %best3_hi
  %far_right_is_hi = and.i1x2 %far_right_less_hi, %right_less_hi
  %best4_hi = select.i16x2 %far_right_is_hi, %far_right_hi2, %best3_hi
  %far_right_ones_lo = mask_expand.i16x2 %far_right_is_lo
  %far_right_bytes_lo = bitcast.i8x4 %far_right_ones_lo
  %far_right_ones_hi = mask_expand.i16x2 %far_right_is_hi
  %far_right_bytes_hi = bitcast.i8x4 %far_right_ones_hi
  %far_right_bytes = shuffle.i8x4 %far_right_bytes_lo, %far_right_bytes_hi, [0, 2, 4, 6]
  %far_right_mask = icmp.lt_s.i8x4 %far_right_bytes, %none
  %pixel4 = select.i8x4 %far_right_mask, %far_right, %pixel3

  ; Where the lines two above and two below show that the picture changes from line to line, the pixel may leave it by more.
  %far_above_up = avg_u.i8x4 %earlier0, %later0
  %far_above_both = xor.i8x4 %earlier0, %later0
  %far_above_odd = and.i8x4 %far_above_both, %one
  %far_above = sub.i8x4 %far_above_up, %far_above_odd
  %far_below_up = avg_u.i8x4 %earlier2, %later2
  %far_below_both = xor.i8x4 %earlier2, %later2
  %far_below_odd = and.i8x4 %far_below_both, %one
  %far_below = sub.i8x4 %far_below_up, %far_below_odd
  %d_lo8 = shuffle.i8x4 %d, %none, [0, 4, 1, 4]
  %d_lo = bitcast.i16x2 %d_lo8
  %d_hi8 = shuffle.i8x4 %d, %none, [2, 4, 3, 4]
  %d_hi = bitcast.i16x2 %d_hi8
  %ac_lo8 = shuffle.i8x4 %ac, %none, [0, 4, 1, 4]
  %ac_lo = bitcast.i16x2 %ac_lo8
  %ac_hi8 = shuffle.i8x4 %ac, %none, [2, 4, 3, 4]
  %ac_hi = bitcast.i16x2 %ac_hi8
  %bc_lo8 = shuffle.i8x4 %bc, %none, [0, 4, 1, 4]
  %bc_lo = bitcast.i16x2 %bc_lo8
  %bc_hi8 = shuffle.i8x4 %bc, %none, [2, 4, 3, 4]
  %bc_hi = bitcast.i16x2 %bc_hi8
  %far_above_lo8 = shuffle.i8x4 %far_above, %none, [0, 4, 1, 4]
  %far_above_lo = bitcast.i16x2 %far_above_lo8
  %far_above_hi8 = shuffle.i8x4 %far_above, %none, [2, 4, 3, 4]
  %far_above_hi = bitcast.i16x2 %far_above_hi8
  %far_below_lo8 = shuffle.i8x4 %far_below, %none, [0, 4, 1, 4]
  %far_below_lo = bitcast.i16x2 %far_below_lo8
  %far_below_hi8 = shuffle.i8x4 %far_below, %none, [2, 4, 3, 4]
  %far_below_hi = bitcast.i16x2 %far_below_hi8
  %move2_lo8 = shuffle.i8x4 %move2, %none, [0, 4, 1, 4]
  %move2_lo = bitcast.i16x2 %move2_lo8
  %move2_hi8 = shuffle.i8x4 %move2, %none, [2, 4, 3, 4]
  %move2_hi = bitcast.i16x2 %move2_hi8
  %over_a_lo = sub.i16x2 %d_lo, %ac_lo
  %over_b_lo = sub.i16x2 %d_lo, %bc_lo
  %rise_a_lo = sub.i16x2 %far_above_lo, %ac_lo
  %rise_b_lo = sub.i16x2 %far_below_lo, %bc_lo
  %lesser_lo = min_s.i16x2 %rise_a_lo, %rise_b_lo
  %greater_lo = max_s.i16x2 %rise_a_lo, %rise_b_lo
  %most_over_lo = max_s.i16x2 %over_a_lo, %over_b_lo
  %most_lo = max_s.i16x2 %most_over_lo, %lesser_lo
  %least_over_lo = min_s.i16x2 %over_a_lo, %over_b_lo
  %least_lo = min_s.i16x2 %least_over_lo, %greater_lo
  %under_lo = neg.i16x2 %most_lo
  %more_lo = max_s.i16x2 %move2_lo, %least_lo
  %by_lo = max_s.i16x2 %more_lo, %under_lo
  %over_a_hi = sub.i16x2 %d_hi, %ac_hi
  %over_b_hi = sub.i16x2 %d_hi, %bc_hi
  %rise_a_hi = sub.i16x2 %far_above_hi, %ac_hi
  %rise_b_hi = sub.i16x2 %far_below_hi, %bc_hi
  %lesser_hi = min_s.i16x2 %rise_a_hi, %rise_b_hi
  %greater_hi = max_s.i16x2 %rise_a_hi, %rise_b_hi
  %most_over_hi = max_s.i16x2 %over_a_hi, %over_b_hi
  %most_hi = max_s.i16x2 %most_over_hi, %lesser_hi
  %least_over_hi = min_s.i16x2 %over_a_hi, %over_b_hi
  %least_hi = min_s.i16x2 %least_over_hi, %greater_hi
  %under_hi = neg.i16x2 %most_hi
  %more_hi = max_s.i16x2 %move2_hi, %least_hi
  %by_hi = max_s.i16x2 %more_hi, %under_hi
  %by_lo8 = bitcast.i8x4 %by_lo
  %by_hi8 = bitcast.i8x4 %by_hi
  %by = shuffle.i8x4 %by_lo8, %by_hi8, [0, 2, 4, 6]
  %highest = add_sat_u.i8x4 %d, %by
  %lowest = sub_sat_u.i8x4 %d, %by
  %capped = min_u.i8x4 %pixel4, %highest
  %r = max_u.i8x4 %capped, %lowest
  store %r, %line[%i + 1]
  ret
}

; run: halu, vp1, ptx: @yadif items=1 width=3 now=[[10, 20, 30, 40], [200, 210, 220, 230], [235, 240, 245, 250], [5, 8, 10, 12], [20, 30, 40, 200], [210, 220, 230, 235]] before=[[1, 18, 23, 49], [204, 207, 222, 234], [233, 245, 249, 244], [2, 7, 15, 6], [18, 28, 31, 199], [201, 214, 237, 242]] after=[[33, 45, 49, 12], [220, 239, 220, 202], [255, 255, 221, 233], [19, 24, 36, 0], [28, 56, 20, 187], [198, 206, 245, 225]] earlier=[[213, 247, 126, 42], [131, 31, 251, 79], [174, 31, 63, 195], [3, 32, 50, 0], [78, 160, 160, 247], [190, 249, 243, 231], [145, 195, 201, 75], [97, 36, 149, 4], [92, 22, 20, 189]] later=[[207, 248, 121, 38], [135, 38, 255, 76], [169, 33, 63, 192], [3, 28, 53, 0], [73, 155, 163, 245], [185, 252, 251, 223], [144, 201, 195, 74], [101, 44, 153, 4], [98, 19, 24, 193]] line=zeros(3) -> line=[[0, 0, 0, 0], [61, 130, 171, 226], [0, 0, 0, 0]]
; run: halu, vp1, ptx: @yadif items=300 width=302 now=random(604, 491) before=random(604, 492) after=random(604, 493) earlier=random(906, 494) later=random(906, 495) line=zeros(302)

; A photograph of 128 by 128 pixels: its odd lines, with its own even lines before and those of the photograph moved by a
; pixel after.
; run: halu, vp1, ptx: @yadif items=1982 width=32 now=@chelsea-odd.npy before=@chelsea-odd.npy after=@chelsea-moved-odd.npy earlier=@chelsea-even.npy later=@chelsea-moved-even.npy line=zeros(1984) -> line=@chelsea-woven.npy
