; test: lower
; Algebra of comparisons and selection.
kernel @with_itself(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %icmp = icmp.le_s.i32 %a, %a
  %icmp_bits = mask_expand.i32 %icmp
  store %icmp_bits, %out[%i]
  ret
}
;= kernel @with_itself(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %icmp_bits = const.i32 -1
;=   store %icmp_bits, %out[%i]
;=   ret
;= }
; rule: icmp_self

; A NaN is not equal to itself.
kernel @itself_as_a_float(%a_in: in f32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %c = fcmp.eq.f32 %a, %a
  %r = mask_expand.i32 %c
  store %r, %out[%i]
  ret
}
;= kernel @itself_as_a_float(%a_in: in f32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %c = fcmp.eq.f32 %a, %a
;=   %r = mask_expand.i32 %c
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: icmp_self

kernel @masks_as_numbers(%c_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i8x4 %c_sign, %none
  %x = mask_expand.i8x4 %c
  %k = const.i8x4 0
  %icmp = icmp.ne.i8x4 %x, %k
  %icmp_bits = mask_expand.i8x4 %icmp
  %x2 = mask_expand.i8x4 %c
  %k2 = const.i8x4 0
  %icmp2 = icmp.lt_s.i8x4 %x2, %k2
  %icmp2_bits = mask_expand.i8x4 %icmp2
  %x3 = mask_expand.i8x4 %c
  %k3 = const.i8x4 0
  %icmp3 = icmp.eq.i8x4 %x3, %k3
  %icmp3_bits = mask_expand.i8x4 %icmp3
  store %icmp_bits, %out1[%i]
  store %icmp2_bits, %out2[%i]
  store %icmp3_bits, %out3[%i]
  ret
}
;= kernel @masks_as_numbers(%c_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i8x4 %c_sign, %none
;=   %x = mask_expand.i8x4 %c
;=   %icmp3 = icmp.ge_s.i8x4 %c_sign, %none
;=   %icmp3_bits = mask_expand.i8x4 %icmp3
;=   store %x, %out1[%i]
;=   store %x, %out2[%i]
;=   store %icmp3_bits, %out3[%i]
;=   ret
;= }
; rule: mask_of_lanes_ne, mask_of_lanes_lt, mask_of_lanes_eq

kernel @with_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %icmp = icmp.lt_u.i32 %a, %k
  %icmp_bits = mask_expand.i32 %icmp
  %k2 = const.i32 0
  %icmp2 = icmp.ge_u.i32 %a, %k2
  %icmp2_bits = mask_expand.i32 %icmp2
  %k3 = const.i32 0
  %icmp3 = icmp.gt_u.i32 %a, %k3
  %icmp3_bits = mask_expand.i32 %icmp3
  %k4 = const.i32 1
  %icmp4 = icmp.lt_u.i32 %a, %k4
  %icmp4_bits = mask_expand.i32 %icmp4
  store %icmp_bits, %out1[%i]
  store %icmp2_bits, %out2[%i]
  store %icmp3_bits, %out3[%i]
  store %icmp4_bits, %out4[%i]
  ret
}
;= kernel @with_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   %icmp2_bits = const.i32 -1
;=   %icmp3 = icmp.ne.i32 %a, %k
;=   %icmp3_bits = mask_expand.i32 %icmp3
;=   %icmp4 = icmp.eq.i32 %a, %k
;=   %icmp4_bits = mask_expand.i32 %icmp4
;=   store %k, %out1[%i]
;=   store %icmp2_bits, %out2[%i]
;=   store %icmp3_bits, %out3[%i]
;=   store %icmp4_bits, %out4[%i]
;=   ret
;= }
; rule: below_zero, not_below_zero, above_zero, below_one

; Signed numbers are below zero.
kernel @signed_with_zero(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %c = icmp.lt_s.i32 %a, %k
  %r = mask_expand.i32 %c
  store %r, %out[%i]
  ret
}
;= kernel @signed_with_zero(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   %c = icmp.lt_s.i32 %a, %k
;=   %r = mask_expand.i32 %c
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: below_zero, below_one

kernel @signs(%a_in: in f16x2, %b_in: in f16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fneg.f16x2 %a
  %y = fneg.f16x2 %b
  %fcmp = fcmp.lt.f16x2 %x, %y
  %fcmp_bits = mask_expand.i16x2 %fcmp
  store %fcmp_bits, %out[%i]
  ret
}
;= kernel @signs(%a_in: in f16x2, %b_in: in f16x2, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %fcmp = fcmp.gt.f16x2 %a, %b
;=   %fcmp_bits = mask_expand.i16x2 %fcmp
;=   store %fcmp_bits, %out[%i]
;=   ret
;= }
; rule: fcmp_fnegs

; One sign alone changes the order.
kernel @one_sign(%a_in: in f32, %b_in: in f32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = fneg.f32 %a
  %c = fcmp.lt.f32 %n, %b
  %r = mask_expand.i32 %c
  store %r, %out[%i]
  ret
}
;= kernel @one_sign(%a_in: in f32, %b_in: in f32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %n = fneg.f32 %a
;=   %c = fcmp.lt.f32 %n, %b
;=   %r = mask_expand.i32 %c
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: fcmp_fnegs

kernel @known(%c_in: in i32, %a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %none = const.i32 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i32 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %select = select.i8x4 %c, %a, %a
  %z = const.i1x4 0
  %c2 = not.i1x4 %z
  %select2 = select.i8x4 %c2, %a, %b
  %c3 = const.i1x4 0
  %select3 = select.i8x4 %c3, %a, %b
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %select3, %out3[%i]
  ret
}
;= kernel @known(%c_in: in i32, %a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %c_sign = load %c_in[%i]
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %b, %out3[%i]
;=   ret
;= }
; rule: select_equal, select_true, select_false

kernel @masks(%c_in: in i8x4, %d_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4,
    %out3: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i8x4 %c_sign, %none
  %d_sign = load %d_in[%i]
  %d = icmp.lt_s.i8x4 %d_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i1x4 %c, %d
  %n = not.i1x4 %x
  %select = select.i8x4 %n, %a, %b
  %k = const.i8x4 -1
  %z = const.i8x4 0
  %select2 = select.i8x4 %c, %k, %z
  %z2 = const.i1x4 0
  %k2 = not.i1x4 %z2
  %select3 = select.i1x4 %c, %k2, %z2
  %select3_bits = mask_expand.i8x4 %select3
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %select3_bits, %out3[%i]
  ret
}
;= kernel @masks(%c_in: in i8x4, %d_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i8x4 %c_sign, %none
;=   %d_sign = load %d_in[%i]
;=   %d = icmp.lt_s.i8x4 %d_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %x = xor.i1x4 %c, %d
;=   %select = select.i8x4 %x, %b, %a
;=   %select2 = mask_expand.i8x4 %c
;=   store %select, %out1[%i]
;=   store %select2, %out2[%i]
;=   store %select2, %out3[%i]
;=   ret
;= }
; rule: select_not, select_ones, select_truth

kernel @again(%c_in: in i32, %a_in: in i32, %b_in: in i32, %d_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %none = const.i32 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i32 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = load %d_in[%i]
  %s = select.i32 %c, %b, %d
  %select = select.i32 %c, %a, %s
  %s2 = select.i32 %c, %b, %d
  %select2 = select.i32 %c, %s2, %a
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
;= kernel @again(%c_in: in i32, %a_in: in i32, %b_in: in i32, %d_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i32 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i32 %c_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %d = load %d_in[%i]
;=   %select = select.i32 %c, %a, %d
;=   %select2 = select.i32 %c, %b, %a
;=   store %select, %out1[%i]
;=   store %select2, %out2[%i]
;=   ret
;= }
; rule: select_again, select_again_left

; By another condition it is another selection.
kernel @again_by_another(%c_in: in i32, %d_in: in i32, %a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %none = const.i32 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i32 %c_sign, %none
  %d_sign = load %d_in[%i]
  %d = icmp.lt_s.i32 %d_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = select.i32 %c, %a, %b
  %r = select.i32 %d, %s, %b
  store %r, %out[%i]
  ret
}
;= kernel @again_by_another(%c_in: in i32, %d_in: in i32, %a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i32 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i32 %c_sign, %none
;=   %d_sign = load %d_in[%i]
;=   %d = icmp.lt_s.i32 %d_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = select.i32 %c, %a, %b
;=   %r = select.i32 %d, %s, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: select_again, select_again_left

kernel @minimum_s(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_s.i32 %a, %b
  %select = select.i32 %c, %a, %b
  %c2 = icmp.gt_s.i32 %a, %b
  %select2 = select.i32 %c2, %b, %a
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
;= kernel @minimum_s(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %select = min_s.i32 %a, %b
;=   store %select, %out1[%i]
;=   store %select, %out2[%i]
;=   ret
;= }
; rule: select_min_s, select_min_s_right

kernel @maximum_s(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.gt_s.i32 %a, %b
  %select = select.i32 %c, %a, %b
  %c2 = icmp.lt_s.i32 %a, %b
  %select2 = select.i32 %c2, %b, %a
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
;= kernel @maximum_s(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %select = max_s.i32 %a, %b
;=   store %select, %out1[%i]
;=   store %select, %out2[%i]
;=   ret
;= }
; rule: select_max_s, select_max_s_right

kernel @minimum_u(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_u.i32 %a, %b
  %select = select.i32 %c, %a, %b
  %c2 = icmp.gt_u.i32 %a, %b
  %select2 = select.i32 %c2, %b, %a
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
;= kernel @minimum_u(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %select = min_u.i32 %a, %b
;=   store %select, %out1[%i]
;=   store %select, %out2[%i]
;=   ret
;= }
; rule: select_min_u, select_min_u_right

kernel @maximum_u(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.gt_u.i32 %a, %b
  %select = select.i32 %c, %a, %b
  %c2 = icmp.lt_u.i32 %a, %b
  %select2 = select.i32 %c2, %b, %a
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
;= kernel @maximum_u(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %select = max_u.i32 %a, %b
;=   store %select, %out1[%i]
;=   store %select, %out2[%i]
;=   ret
;= }
; rule: select_max_u, select_max_u_right

; What is selected must be what was compared.
kernel @selected_others(%a_in: in i32, %b_in: in i32, %d_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = load %d_in[%i]
  %c = icmp.lt_s.i32 %a, %b
  %r = select.i32 %c, %a, %d
  store %r, %out[%i]
  ret
}
;= kernel @selected_others(%a_in: in i32, %b_in: in i32, %d_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %d = load %d_in[%i]
;=   %c = icmp.lt_s.i32 %a, %b
;=   %r = select.i32 %c, %a, %d
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: select_min_s, select_max_s_right

; Equal is no order.
kernel @selected_equal(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.eq.i32 %a, %b
  %r = select.i32 %c, %a, %b
  store %r, %out[%i]
  ret
}
;= kernel @selected_equal(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = icmp.eq.i32 %a, %b
;=   %r = select.i32 %c, %a, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: select_min_s, select_max_s, select_min_u, select_max_u

; A minimum of floats has its own NaN and zeros.
kernel @selected_floats(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = fcmp.lt.f32 %a, %b
  %r = select.f32 %c, %a, %b
  store %r, %out[%i]
  ret
}
;= kernel @selected_floats(%a_in: in f32, %b_in: in f32, %out: out f32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = fcmp.lt.f32 %a, %b
;=   %r = select.f32 %c, %a, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: select_min_s
