; test: isel halu
; The sums of lanes do not carry: a sum of words.
kernel @no_carry(%a_in: in i8x4, %out0: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = const.i8x4 15
  %x = and.i8x4 %a, %m
  %k = const.i8x4 48
  %r = add.i8x4 %x, %k
  store %r, %out0[%i]
  ret
}
; rule: word_add
; check: IADD3
; never: vadd4

; The last lane may overflow, but no other one.
kernel @last_lane(%a_in: in i8x4, %out0: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = const.i8x4 [15, 15, 15, -1]
  %x = and.i8x4 %a, %m
  %k = const.i8x4 240
  %r = add.i8x4 %x, %k
  store %r, %out0[%i]
  ret
}
; rule: word_add

; Another lane may overflow.
kernel @carry(%a_in: in i8x4, %out0: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = const.i8x4 [15, 15, 31, 15]
  %x = and.i8x4 %a, %m
  %k = const.i8x4 240
  %r = add.i8x4 %x, %k
  store %r, %out0[%i]
  ret
}
; no rule: word_add

; The differences do not borrow.
kernel @no_borrow(%a_in: in i8x4, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = const.i8x4 15
  %x = and.i8x4 %a, %m
  %k = const.i8x4 15
  %r = sub.i8x4 %k, %x
  %j = const.i8x4 32
  %y = or.i8x4 %a, %j
  %s = sub.i8x4 %y, %j
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: word_sub, word_sub_constant
; never: vsub4

; They may.
kernel @borrow(%a_in: in i8x4, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = const.i8x4 15
  %x = and.i8x4 %a, %m
  %k = const.i8x4 14
  %r = sub.i8x4 %k, %x
  %s = sub.i8x4 %x, %k
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; no rule: word_sub, word_sub_constant

; Comparisons of lanes in the lower half of the range.
kernel @compared(%a_in: in i8x4, %b_in: in i8x4, %out0: out i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = const.i8x4 127
  %x = and.i8x4 %a, %m
  %y = and.i8x4 %b, %m
  %k = const.i8x4 9
  %c0 = icmp.gt_u.i8x4 %x, %y
  %m0 = mask_expand.i8x4 %c0
  %c1 = icmp.le_s.i8x4 %x, %k
  %m1 = mask_expand.i8x4 %c1
  %c2 = icmp.ge_s.i8x4 %x, %k
  %m2 = mask_expand.i8x4 %c2
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  ret
}
; rule: greater_in_half_range, less_in_half_range, excess_over_constant, excess_of_constant, excess_of_value
; never: vsub4

; Tests for equality.
kernel @equal(%a_in: in i8x4, %b_in: in i8x4, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = const.i8x4 127
  %x = and.i8x4 %a, %m
  %y = and.i8x4 %b, %m
  %z = const.i8x4 0
  %c0 = icmp.eq.i8x4 %x, %y
  %m0 = mask_expand.i8x4 %c0
  %c1 = icmp.ne.i8x4 %x, %z
  %m1 = mask_expand.i8x4 %c1
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  ret
}
; rule: equal_in_half_range, unequal_in_half_range, differing_values, differing_from_zero

; Lanes of which one may have its highest bit.
kernel @all_bytes(%a_in: in i8x4, %b_in: in i8x4, %out0: out i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = const.i8x4 [127, 127, 127, -1]
  %x = and.i8x4 %a, %m
  %k = const.i8x4 9
  %c0 = icmp.gt_u.i8x4 %x, %k
  %m0 = mask_expand.i8x4 %c0
  %c1 = icmp.lt_s.i8x4 %x, %k
  %m1 = mask_expand.i8x4 %c1
  %c2 = icmp.eq.i8x4 %x, %k
  %m2 = mask_expand.i8x4 %c2
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  ret
}
; no rule: greater_in_half_range, less_in_half_range, equal_in_half_range, unequal_in_half_range
