; test: lower without=neg.i8x4,not.i8x4
; Integers made of other integers. Each kernel is for a target that lacks just the ops named: the expansion of fewest instructions is taken.
kernel @complement_and_negation(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %not = not.i8x4 %a
  %neg = neg.i8x4 %a
  store %not, %out1[%i]
  store %neg, %out2[%i]
  ret
}
;= kernel @complement_and_negation(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 -1
;=   %not = xor.i8x4 %a, %0
;=   %1 = const.i8x4 0
;=   %neg = sub.i8x4 %1, %a
;=   store %not, %out1[%i]
;=   store %neg, %out2[%i]
;=   ret
;= }
; rule: not_by_xor, neg_by_sub

; test: lower without=sub.i32
; A negation is added.
kernel @difference(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %sub = sub.i32 %a, %b
  store %sub, %out[%i]
  ret
}
;= kernel @difference(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = neg.i32 %b
;=   %sub = add.i32 %a, %0
;=   store %sub, %out[%i]
;=   ret
;= }
; rule: sub_by_neg

; test: lower without=abs.i8x4
kernel @absolute_by_maximum(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %abs = abs.i8x4 %a
  store %abs, %out[%i]
  ret
}
;= kernel @absolute_by_maximum(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = neg.i8x4 %a
;=   %abs = max_s.i8x4 %a, %0
;=   store %abs, %out[%i]
;=   ret
;= }
; rule: abs_by_max

; test: lower without=abs.i8x4,absdiff_s.i8x4,icmp.i8x4,max_s.i8x4
; Without maximum and comparison, the sign is exclusive-ored and subtracted.
kernel @absolute_by_sign(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %abs = abs.i8x4 %a
  store %abs, %out[%i]
  ret
}
;= kernel @absolute_by_sign(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 7
;=   %1 = shr_s.i8x4 %a, %0
;=   %2 = xor.i8x4 %a, %1
;=   %abs = sub.i8x4 %2, %1
;=   store %abs, %out[%i]
;=   ret
;= }
; rule: abs_by_sign

; test: lower without=abs.i8x4,max_s.i8x4
kernel @absolute_by_distance(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %abs = abs.i8x4 %a
  store %abs, %out[%i]
  ret
}
;= kernel @absolute_by_distance(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 0
;=   %abs = absdiff_s.i8x4 %a, %0
;=   store %abs, %out[%i]
;=   ret
;= }
; rule: abs_by_absdiff

; test: lower without=max_s.i8x4,max_u.i8x4,min_s.i8x4,min_u.i8x4
kernel @extremes_by_select(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4,
    %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %min_s = min_s.i8x4 %a, %b
  %max_s = max_s.i8x4 %a, %b
  %min_u = min_u.i8x4 %a, %b
  %max_u = max_u.i8x4 %a, %b
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  store %min_u, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
;= kernel @extremes_by_select(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = icmp.lt_s.i8x4 %a, %b
;=   %min_s = select.i8x4 %0, %a, %b
;=   %1 = icmp.gt_s.i8x4 %a, %b
;=   %max_s = select.i8x4 %1, %a, %b
;=   %2 = icmp.lt_u.i8x4 %a, %b
;=   %min_u = select.i8x4 %2, %a, %b
;=   %3 = icmp.gt_u.i8x4 %a, %b
;=   %max_u = select.i8x4 %3, %a, %b
;=   store %min_s, %out1[%i]
;=   store %max_s, %out2[%i]
;=   store %min_u, %out3[%i]
;=   store %max_u, %out4[%i]
;=   ret
;= }
; rule: min_s_by_select, max_s_by_select, min_u_by_select, max_u_by_select

; test: lower without=icmp.i8x4,max_u.i8x4,min_u.i8x4
kernel @extremes_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %min_u = min_u.i8x4 %a, %b
  %max_u = max_u.i8x4 %a, %b
  store %min_u, %out1[%i]
  store %max_u, %out2[%i]
  ret
}
;= kernel @extremes_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = sub_sat_u.i8x4 %a, %b
;=   %min_u = sub.i8x4 %a, %0
;=   %max_u = add.i8x4 %b, %0
;=   store %min_u, %out1[%i]
;=   store %max_u, %out2[%i]
;=   ret
;= }
; rule: min_u_by_sub_sat, max_u_by_sub_sat

; test: lower without=add.i8x4,icmp.i8x4,min_u.i8x4,sub.i8x4
; Signed order, with the sign bits changed, is unsigned order.
kernel @minimum_u_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %min_u = min_u.i8x4 %a, %b
  store %min_u, %out[%i]
  ret
}
;= kernel @minimum_u_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i8x4 -128
;=   %1 = xor.i8x4 %a, %0
;=   %2 = xor.i8x4 %b, %0
;=   %3 = min_s.i8x4 %1, %2
;=   %min_u = xor.i8x4 %3, %0
;=   store %min_u, %out[%i]
;=   ret
;= }
; rule: min_u_by_min_s

; test: lower without=add.i8x4,icmp.i8x4,max_u.i8x4
kernel @maximum_u_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %max_u = max_u.i8x4 %a, %b
  store %max_u, %out[%i]
  ret
}
;= kernel @maximum_u_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i8x4 -128
;=   %1 = xor.i8x4 %a, %0
;=   %2 = xor.i8x4 %b, %0
;=   %3 = max_s.i8x4 %1, %2
;=   %max_u = xor.i8x4 %3, %0
;=   store %max_u, %out[%i]
;=   ret
;= }
; rule: max_u_by_max_s

; test: lower without=icmp.i8x4,max_s.i8x4,min_s.i8x4
; And the other way.
kernel @extremes_s_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %min_s = min_s.i8x4 %a, %b
  %max_s = max_s.i8x4 %a, %b
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  ret
}
;= kernel @extremes_s_by_signs(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i8x4 -128
;=   %1 = xor.i8x4 %a, %0
;=   %2 = xor.i8x4 %b, %0
;=   %3 = min_u.i8x4 %1, %2
;=   %min_s = xor.i8x4 %3, %0
;=   %4 = max_u.i8x4 %1, %2
;=   %max_s = xor.i8x4 %4, %0
;=   store %min_s, %out1[%i]
;=   store %max_s, %out2[%i]
;=   ret
;= }
; rule: min_s_by_min_u, max_s_by_max_u

; test: lower without=absdiff_s.i8x4,absdiff_u.i8x4
kernel @distances_by_extremes(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %absdiff_u = absdiff_u.i8x4 %a, %b
  %absdiff_s = absdiff_s.i8x4 %a, %b
  store %absdiff_u, %out1[%i]
  store %absdiff_s, %out2[%i]
  ret
}
;= kernel @distances_by_extremes(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = max_u.i8x4 %a, %b
;=   %1 = min_u.i8x4 %a, %b
;=   %absdiff_u = sub.i8x4 %0, %1
;=   %2 = max_s.i8x4 %a, %b
;=   %3 = min_s.i8x4 %a, %b
;=   %absdiff_s = sub.i8x4 %2, %3
;=   store %absdiff_u, %out1[%i]
;=   store %absdiff_s, %out2[%i]
;=   ret
;= }
; rule: absdiff_u_by_min_max, absdiff_s_by_min_max

; test: lower without=absdiff_u.i8x4,max_u.i8x4
; One of two saturated differences is 0.
kernel @distance_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %absdiff_u = absdiff_u.i8x4 %a, %b
  store %absdiff_u, %out[%i]
  ret
}
;= kernel @distance_by_saturation(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = sub_sat_u.i8x4 %a, %b
;=   %1 = sub_sat_u.i8x4 %b, %a
;=   %absdiff_u = or.i8x4 %0, %1
;=   store %absdiff_u, %out[%i]
;=   ret
;= }
; rule: absdiff_u_by_sub_sat

; test: lower without=add_sat_u.i8x4,sub_sat_u.i8x4
kernel @unsigned_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %add_sat_u = add_sat_u.i8x4 %a, %b
  %sub_sat_u = sub_sat_u.i8x4 %a, %b
  store %add_sat_u, %out1[%i]
  store %sub_sat_u, %out2[%i]
  ret
}
;= kernel @unsigned_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = not.i8x4 %a
;=   %1 = min_u.i8x4 %b, %0
;=   %add_sat_u = add.i8x4 %a, %1
;=   %2 = max_u.i8x4 %a, %b
;=   %sub_sat_u = sub.i8x4 %2, %b
;=   store %add_sat_u, %out1[%i]
;=   store %sub_sat_u, %out2[%i]
;=   ret
;= }
; rule: add_sat_u_by_min, sub_sat_u_by_max

; test: lower without=max_u.i8x4,sub_sat_u.i8x4
kernel @unsigned_saturation_without_maximum(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %sub_sat_u = sub_sat_u.i8x4 %a, %b
  store %sub_sat_u, %out[%i]
  ret
}
;= kernel @unsigned_saturation_without_maximum(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = min_u.i8x4 %a, %b
;=   %sub_sat_u = sub.i8x4 %a, %0
;=   store %sub_sat_u, %out[%i]
;=   ret
;= }
; rule: sub_sat_u_by_min

; test: lower without=add_sat_s.i8x4,sub_sat_s.i8x4
kernel @signed_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %add_sat_s = add_sat_s.i8x4 %a, %b
  %sub_sat_s = sub_sat_s.i8x4 %a, %b
  store %add_sat_s, %out1[%i]
  store %sub_sat_s, %out2[%i]
  ret
}
;= kernel @signed_saturation(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = add.i8x4 %a, %b
;=   %1 = xor.i8x4 %a, %0
;=   %2 = xor.i8x4 %b, %0
;=   %3 = and.i8x4 %1, %2
;=   %4 = const.i8x4 7
;=   %5 = shr_s.i8x4 %a, %4
;=   %6 = const.i8x4 127
;=   %7 = xor.i8x4 %5, %6
;=   %8 = const.i8x4 0
;=   %9 = icmp.lt_s.i8x4 %3, %8
;=   %add_sat_s = select.i8x4 %9, %7, %0
;=   %10 = sub.i8x4 %a, %b
;=   %11 = xor.i8x4 %a, %b
;=   %12 = xor.i8x4 %a, %10
;=   %13 = and.i8x4 %11, %12
;=   %14 = icmp.lt_s.i8x4 %13, %8
;=   %sub_sat_s = select.i8x4 %14, %7, %10
;=   store %add_sat_s, %out1[%i]
;=   store %sub_sat_s, %out2[%i]
;=   ret
;= }
; rule: add_sat_s_by_select, sub_sat_s_by_select

; test: lower without=avg_u.i8x4
; All bits, less half of those that differ.
kernel @average_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %avg_u = avg_u.i8x4 %a, %b
  store %avg_u, %out[%i]
  ret
}
;= kernel @average_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = or.i8x4 %a, %b
;=   %1 = xor.i8x4 %a, %b
;=   %2 = const.i8x4 1
;=   %3 = shr_u.i8x4 %1, %2
;=   %avg_u = sub.i8x4 %0, %3
;=   store %avg_u, %out[%i]
;=   ret
;= }
; rule: avg_u_by_bits

; test: lower without=avg_s.i8x16,avg_s.i8x4
kernel @average_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %avg_s = avg_s.i8x4 %a, %b
  store %avg_s, %out[%i]
  ret
}
;= kernel @average_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = xor.i8x4 %a, %b
;=   %1 = and.i8x4 %a, %b
;=   %2 = const.i8x4 1
;=   %3 = shr_s.i8x4 %0, %2
;=   %4 = add.i8x4 %1, %3
;=   %5 = and.i8x4 %0, %2
;=   %6 = const.i8x4 7
;=   %7 = shr_s.i8x4 %4, %6
;=   %8 = not.i8x4 %7
;=   %9 = and.i8x4 %5, %8
;=   %avg_s = add.i8x4 %4, %9
;=   store %avg_s, %out[%i]
;=   ret
;= }
; rule: avg_s_by_bits

; test: lower without=avg_s.i8x4
; A word is one of the four of a vector.
kernel @average_as_a_vector(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %avg_s = avg_s.i8x4 %a, %b
  store %avg_s, %out[%i]
  ret
}
;= kernel @average_as_a_vector(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = concat.i8x16 %a, %a, %a, %a
;=   %1 = concat.i8x16 %b, %b, %b, %b
;=   %2 = avg_s.i8x16 %0, %1
;=   %avg_s = split.i8x4 %2, 0
;=   store %avg_s, %out[%i]
;=   ret
;= }
; rule: avg_s_as_vector

; test: lower without=concat.i8x16,round_shr_s.i8x4,round_shr_u.i8x4
; Rounding adds the last bit shifted out.
kernel @rounded_shifts(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %round_shr_s = round_shr_s.i8x4 %a, %b
  %round_shr_u = round_shr_u.i8x4 %a, %b
  store %round_shr_s, %out1[%i]
  store %round_shr_u, %out2[%i]
  ret
}
;= kernel @rounded_shifts(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i8x4 1
;=   %1 = shl.i8x4 %a, %0
;=   %2 = shr_u.i8x4 %1, %b
;=   %3 = shr_s.i8x4 %a, %b
;=   %4 = and.i8x4 %2, %0
;=   %round_shr_s = add.i8x4 %3, %4
;=   %5 = shr_u.i8x4 %a, %b
;=   %round_shr_u = add.i8x4 %5, %4
;=   store %round_shr_s, %out1[%i]
;=   store %round_shr_u, %out2[%i]
;=   ret
;= }
; rule: round_shr_s_by_bits, round_shr_u_by_bits

; test: lower without=round_shr_s.i8x4,round_shr_u.i8x4
kernel @rounded_shifts_as_vectors(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %round_shr_s = round_shr_s.i8x4 %a, %b
  %round_shr_u = round_shr_u.i8x4 %a, %b
  store %round_shr_s, %out1[%i]
  store %round_shr_u, %out2[%i]
  ret
}
;= kernel @rounded_shifts_as_vectors(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = concat.i8x16 %a, %a, %a, %a
;=   %1 = concat.i8x16 %b, %b, %b, %b
;=   %2 = round_shr_s.i8x16 %0, %1
;=   %round_shr_s = split.i8x4 %2, 0
;=   %3 = round_shr_u.i8x16 %0, %1
;=   %round_shr_u = split.i8x4 %3, 0
;=   store %round_shr_s, %out1[%i]
;=   store %round_shr_u, %out2[%i]
;=   ret
;= }
; rule: round_shr_s_as_vector, round_shr_u_as_vector

; test: lower without=min_u.i8x4,max_u.i8x4
; What the target has is not expanded.
kernel @what_is_there(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = min_s.i8x4 %a, %b
  %r = max_s.i8x4 %x, %a
  store %r, %out[%i]
  ret
}
;= kernel @what_is_there(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %x = min_s.i8x4 %a, %b
;=   %r = max_s.i8x4 %x, %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: min_s_by_select, max_s_by_select

; test: lower without=abs.i8x4
; What is missing on one type is there on another.
kernel @another_type(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = abs.i32 %a
  store %r, %out[%i]
  ret
}
;= kernel @another_type(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %r = abs.i32 %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: abs_by_max, abs_by_sign

; test: lower without=add_sat_s.i16,sub_sat_s.i16,narrow_sat_s.i16

; Of scalars in the next wider ones.
kernel @saturated_scalars(%a_in: in i16, %b_in: in i16, %out1: out i16, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = add_sat_s.i16 %a, %b
  %s = sub_sat_s.i16 %a, %b
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: add_sat_s_in_wide, sub_sat_s_in_wide
; check: sext.i32 %a
; check: add.i32
; check: max_s.i32
; check: sub.i32

; test: lower without=round_shr_s.i32,round_shr_u.i32
; For a known count, the last bit that the shift drops is added before the last shift. A shift by 1 could overflow so.
kernel @rounded_by_known_counts(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i32 15
  %one = const.i32 1
  %s = round_shr_s.i32 %a, %n
  %u = round_shr_u.i32 %a, %n
  %t = round_shr_s.i32 %a, %one
  store %s, %out1[%i]
  store %u, %out2[%i]
  store %t, %out3[%i]
  ret
}
; rule: round_shr_s_by_two_shifts, round_shr_u_by_two_shifts, round_shr_s_by_bits
