; test: lower
; A negative number changes its sign.
kernel @negative_negated(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 0
  %n = neg.i32 %a
  %c = icmp.lt_s.i32 %a, %z
  %r = select.i32 %c, %n, %a
  store %r, %out[%i]
  ret
}
; rule: abs_of_negative
; check: %r = abs.i32 %a

kernel @positive_kept(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 0
  %n = neg.i32 %a
  %c = icmp.ge_s.i32 %a, %z
  %r = select.i32 %c, %a, %n
  store %r, %out[%i]
  ret
}
; rule: abs_of_positive
; check: %r = abs.i32 %a

kernel @not_negative_kept(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 -1
  %n = neg.i32 %a
  %c = icmp.gt_s.i32 %a, %z
  %r = select.i32 %c, %a, %n
  store %r, %out[%i]
  ret
}
; rule: abs_of_not_negative
; check: %r = abs.i32 %a

kernel @greater_of_both_signs(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = neg.i8x4 %a
  %r = max_s.i8x4 %a, %n
  store %r, %out[%i]
  ret
}
; rule: abs_of_max
; check: %r = abs.i8x4 %a

kernel @greater_of_both_signs_left(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = neg.i8x4 %a
  %r = max_s.i8x4 %n, %a
  store %r, %out[%i]
  ret
}
; rule: abs_of_max_left
; check: %r = abs.i8x4 %a

kernel @unsigned_greater(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = neg.i8x4 %a
  %r = max_u.i8x4 %a, %n
  store %r, %out[%i]
  ret
}
; no rule: abs_of_max
; never: abs

kernel @negated_below_other(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 -1
  %n = neg.i32 %a
  %c = icmp.lt_s.i32 %a, %z
  %r = select.i32 %c, %n, %a
  store %r, %out[%i]
  ret
}
; no rule: abs_of_negative, abs_of_not_negative
; never: abs

kernel @positive_negated(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 0
  %n = neg.i32 %a
  %c = icmp.gt_s.i32 %a, %z
  %r = select.i32 %c, %n, %a
  store %r, %out[%i]
  ret
}
; no rule: abs_of_positive
; never: abs

; With its sign in every bit: (x ^ m) - m, and (x + m) ^ m.
kernel @sign_applied(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 31
  %m = shr_s.i32 %a, %k
  %x = xor.i32 %a, %m
  %r = sub.i32 %x, %m
  store %r, %out[%i]
  ret
}
; rule: abs_of_signs
; check: %r = abs.i32 %a

kernel @sign_applied_left(%a_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i16x2 15
  %m = shr_s.i16x2 %a, %k
  %x = xor.i16x2 %m, %a
  %r = sub.i16x2 %x, %m
  store %r, %out[%i]
  ret
}
; rule: abs_of_signs_left
; check: %r = abs.i16x2 %a

kernel @sign_added(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 31
  %m = shr_s.i32 %a, %k
  %x = add.i32 %a, %m
  %r = xor.i32 %x, %m
  store %r, %out[%i]
  ret
}
; rule: abs_of_sum
; check: %r = abs.i32 %a

kernel @sign_added_right(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 31
  %m = shr_s.i32 %a, %k
  %x = add.i32 %a, %m
  %r = xor.i32 %m, %x
  store %r, %out[%i]
  ret
}
; rule: abs_of_sum_right
; check: %r = abs.i32 %a

kernel @sign_of_another(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 31
  %m = shr_s.i32 %b, %k
  %x = xor.i32 %a, %m
  %r = sub.i32 %x, %m
  store %r, %out[%i]
  ret
}
; no rule: abs_of_signs
; never: abs

kernel @not_all_sign(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 30
  %m = shr_s.i32 %a, %k
  %x = xor.i32 %a, %m
  %r = sub.i32 %x, %m
  store %r, %out[%i]
  ret
}
; no rule: abs_of_signs
; never: abs

; A difference is zero where its two are equal.
kernel @equal_by_difference(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.eq.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; rule: equal_by_sub
; check: icmp.eq.i8x4 %a, %b

kernel @unequal_by_bits(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = xor.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.ne.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; rule: equal_by_xor
; check: icmp.ne.i8x4 %a, %b

kernel @equal_by_distance(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = absdiff_u.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.eq.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; rule: equal_by_absdiff_u
; check: icmp.eq.i8x4 %a, %b

kernel @not_above(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.eq.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; rule: not_above_by_sub_sat
; check: icmp.le_u.i8x4 %a, %b

kernel @above(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.ne.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; rule: above_by_sub_sat
; check: icmp.gt_u.i8x4 %a, %b

kernel @less_by_difference(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub.i8x4 %a, %b
  %z = const.i8x4 0
  %c = icmp.lt_s.i8x4 %d, %z
  %r = select.i8x4 %c, %a, %d
  store %r, %out[%i]
  ret
}
; no rule: equal_by_sub
; check: icmp.lt_s.i8x4 %d

; The constants of wrapping sums are one.
kernel @less_and_more(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = sub.i32 %a, %j
  %r = add.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: add_sub_constants
; never: %x

kernel @more_than_less(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = sub.i32 %j, %a
  %r = add.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: add_constant_less
; never: %x

kernel @more_and_less(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = add.i32 %a, %j
  %r = sub.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: sub_add_constants
; never: %x

kernel @less_and_less(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = sub.i32 %a, %j
  %r = sub.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: sub_sub_constants
; never: %x

kernel @less_a_sum(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = add.i32 %a, %j
  %r = sub.i32 %k, %x
  store %r, %out[%i]
  ret
}
; rule: constant_less_sum
; never: %x

kernel @less_a_difference(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %k = const.i32 99
  %x = sub.i32 %j, %a
  %r = sub.i32 %k, %x
  store %r, %out[%i]
  ret
}
; rule: constant_less_constant
; never: %x

kernel @saturating_constants(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i8x4 77
  %k = const.i8x4 99
  %x = sub_sat_u.i8x4 %a, %j
  %r = add.i8x4 %x, %k
  store %r, %out[%i]
  ret
}
; no rule: add_sub_constants
; check: sub_sat_u.i8x4

; Two shifts of a kind are one, while it is no shift around.
kernel @shl_twice(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 3
  %k = const.i32 5
  %x = shl.i32 %a, %j
  %r = shl.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: shl_constants
; never: %x

kernel @shr_u_twice(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 3
  %k = const.i32 5
  %x = shr_u.i32 %a, %j
  %r = shr_u.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: shr_u_constants
; never: %x

kernel @shr_s_twice(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 3
  %k = const.i32 5
  %x = shr_s.i32 %a, %j
  %r = shr_s.i32 %x, %k
  store %r, %out[%i]
  ret
}
; rule: shr_s_constants
; never: %x

kernel @shifted_out(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 20
  %k = const.i32 12
  %x = shl.i32 %a, %j
  %r = shl.i32 %x, %k
  store %r, %out[%i]
  ret
}
; no rule: shl_constants
; check: shl.i32 %x

kernel @shifted_back(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 20
  %x = shl.i32 %a, %j
  %r = shr_s.i32 %x, %j
  store %r, %out[%i]
  ret
}
; no rule: shl_constants, shr_s_constants
; check: shr_s.i32 %x

; The count of a shift is taken modulo the width without a mask, too.
kernel @shl_by_masked(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 31
  %m = and.i32 %n, %k
  %r = shl.i32 %a, %m
  store %r, %out[%i]
  ret
}
; rule: shl_by_masked
; never: %m

kernel @shr_u_by_masked(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 31
  %m = and.i32 %n, %k
  %r = shr_u.i32 %a, %m
  store %r, %out[%i]
  ret
}
; rule: shr_u_by_masked
; never: %m

kernel @shr_s_by_masked(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 63
  %m = and.i32 %n, %k
  %r = shr_s.i32 %a, %m
  store %r, %out[%i]
  ret
}
; rule: shr_s_by_masked
; never: %m

kernel @rotl_by_masked(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 31
  %m = and.i32 %n, %k
  %r = rotl.i32 %a, %m
  store %r, %out[%i]
  ret
}
; rule: rotl_by_masked
; never: %m

kernel @rotr_by_masked(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 95
  %m = and.i32 %n, %k
  %r = rotr.i32 %a, %m
  store %r, %out[%i]
  ret
}
; rule: rotr_by_masked
; never: %m

kernel @shl_by_fewer_bits(%a_in: in i32, %n_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = load %n_in[%i]
  %k = const.i32 15
  %m = and.i32 %n, %k
  %r = shl.i32 %a, %m
  store %r, %out[%i]
  ret
}
; no rule: shl_by_masked
; check: shl.i32 %a, %m
