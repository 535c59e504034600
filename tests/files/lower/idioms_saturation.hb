; test: lower
; What is left of a saturating difference is an extreme, and the other way round.
kernel @least_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %r = sub.i8x4 %a, %d
  store %r, %out[%i]
  ret
}
; rule: min_u_of_sub_sat
; check: %r = min_u.i8x4 %a, %b

kernel @greatest_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %r = add.i8x4 %d, %b
  store %r, %out[%i]
  ret
}
; rule: max_u_of_sub_sat
; check: %r = max_u.i8x4 %a, %b

kernel @greatest_by_saturation_right(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %r = add.i8x4 %b, %d
  store %r, %out[%i]
  ret
}
; rule: max_u_of_sub_sat_right
; check: %r = max_u.i8x4 %a, %b

kernel @no_extreme(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %x = sub.i8x4 %b, %d
  %y = add.i8x4 %a, %d
  %e = sub_sat_s.i8x4 %a, %b
  %z = sub.i8x4 %a, %e
  %v = xor.i8x4 %x, %y
  %r = xor.i8x4 %v, %z
  store %r, %out[%i]
  ret
}
; no rule: min_u_of_sub_sat, max_u_of_sub_sat, max_u_of_sub_sat_right
; never: min_
; never: max_

kernel @greatest_less_right(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = max_u.i8x4 %a, %b
  %r = sub.i8x4 %m, %b
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_max
; check: %r = sub_sat_u.i8x4 %a, %b

kernel @greatest_less_left(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = max_u.i8x4 %b, %a
  %r = sub.i8x4 %m, %b
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_max_left
; check: %r = sub_sat_u.i8x4 %a, %b

kernel @less_least(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = min_u.i8x4 %a, %b
  %r = sub.i8x4 %a, %m
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_min
; check: %r = sub_sat_u.i8x4 %a, %b

kernel @less_least_right(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = min_u.i8x4 %b, %a
  %r = sub.i8x4 %a, %m
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_min_right
; check: %r = sub_sat_u.i8x4 %a, %b

kernel @less_signed_extreme(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = max_s.i8x4 %a, %b
  %x = sub.i8x4 %m, %b
  %n = min_s.i8x4 %a, %b
  %y = sub.i8x4 %b, %n
  %r = xor.i8x4 %x, %y
  store %r, %out[%i]
  ret
}
; no rule: sub_sat_u_of_max, sub_sat_u_of_min_right
; never: sub_sat

; By a comparison.
kernel @difference_or_zero(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.gt_u.i16x2 %a, %b
  %d = sub.i16x2 %a, %b
  %z = const.i16x2 0
  %r = select.i16x2 %c, %d, %z
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_select
; check: %r = sub_sat_u.i16x2 %a, %b

kernel @zero_or_difference(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.le_u.i16x2 %a, %b
  %d = sub.i16x2 %a, %b
  %z = const.i16x2 0
  %r = select.i16x2 %c, %z, %d
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_select_right
; check: %r = sub_sat_u.i16x2 %a, %b

kernel @signed_difference_or_zero(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.gt_s.i16x2 %a, %b
  %d = sub.i16x2 %a, %b
  %z = const.i16x2 0
  %r = select.i16x2 %c, %d, %z
  store %r, %out[%i]
  ret
}
; no rule: sub_sat_u_of_select
; never: sub_sat

; A sum that is less than what it is of has wrapped.
kernel @sum_or_ones(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i16x2 %a, %b
  %c = icmp.lt_u.i16x2 %s, %a
  %k = const.i16x2 -1
  %r = select.i16x2 %c, %k, %s
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_select
; check: %r = add_sat_u.i16x2 %a, %b

kernel @ones_or_sum(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i8 %a, %b
  %c = icmp.le_u.i8 %b, %s
  %k = const.i8 -1
  %r = select.i8 %c, %s, %k
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_select_right
; check: %r = add_sat_u.i8 %a, %b

kernel @sum_and_ones(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i8x4 %a, %b
  %c = icmp.gt_u.i8x4 %b, %s
  %e = mask_expand.i8x4 %c
  %r = or.i8x4 %s, %e
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_ones
; check: %r = add_sat_u.i8x4 %a, %b

kernel @ones_and_sum(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i8x4 %a, %b
  %c = icmp.lt_u.i8x4 %s, %a
  %e = mask_expand.i8x4 %c
  %r = or.i8x4 %e, %s
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_ones_left
; check: %r = add_sat_u.i8x4 %a, %b

; A word is as short as it is.
kernel @word_or_ones(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i32 %a, %b
  %c = icmp.lt_u.i32 %s, %a
  %k = const.i32 -1
  %r = select.i32 %c, %k, %s
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_select
; check: select

kernel @sum_that_equals(%a_in: in i16, %b_in: in i16, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i16 %a, %b
  %c = icmp.le_u.i16 %s, %a
  %k = const.i16 -1
  %r = select.i16 %c, %k, %s
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_select
; check: select

kernel @sum_and_another(%a_in: in i16, %b_in: in i16, %c_in: in i16, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = add.i16 %a, %b
  %d = icmp.lt_u.i16 %s, %c
  %k = const.i16 -1
  %r = select.i16 %d, %k, %s
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_select
; check: select

; What may be added without wrapping is.
kernel @room_left(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = not.i8x4 %b
  %m = min_u.i8x4 %a, %n
  %r = add.i8x4 %m, %b
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_min
; check: %r = add_sat_u.i8x4 %a, %b

kernel @room_left_first(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = not.i8x4 %b
  %m = min_u.i8x4 %n, %a
  %r = add.i8x4 %m, %b
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_min_left
; check: %r = add_sat_u.i8x4 %a, %b

kernel @room_for_number(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i8x4 215
  %m = min_u.i8x4 %a, %j
  %k = const.i8x4 40
  %r = add.i8x4 %m, %k
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_limit
; check: add_sat_u.i8x4 %a

kernel @other_room(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i8x4 214
  %m = min_u.i8x4 %a, %j
  %k = const.i8x4 40
  %r = add.i8x4 %m, %k
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_limit
; never: add_sat
