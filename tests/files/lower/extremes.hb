; test: lower
; Algebra of saturation, averages, distances and extremes.
kernel @saturated_with_zero(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4,
    %out5: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %add_sat_s = add_sat_s.i8x4 %a, %k
  %k2 = const.i8x4 0
  %add_sat_u = add_sat_u.i8x4 %a, %k2
  %k3 = const.i8x4 0
  %sub_sat_s = sub_sat_s.i8x4 %a, %k3
  %k4 = const.i8x4 0
  %sub_sat_u = sub_sat_u.i8x4 %a, %k4
  %k5 = const.i8x4 0
  %sub_sat_u2 = sub_sat_u.i8x4 %k5, %a
  store %add_sat_s, %out1[%i]
  store %add_sat_u, %out2[%i]
  store %sub_sat_s, %out3[%i]
  store %sub_sat_u, %out4[%i]
  store %sub_sat_u2, %out5[%i]
  ret
}
;= kernel @saturated_with_zero(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4, %out5: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 0
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %a, %out4[%i]
;=   store %k, %out5[%i]
;=   ret
;= }
; rule: add_sat_s_zero, add_sat_u_zero, sub_sat_s_zero, sub_sat_u_zero, zero_sub_sat_u

; All ones are the most that there is, unsigned.
kernel @saturated_at_the_end(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 -1
  %add_sat_u = add_sat_u.i8x4 %a, %k
  %k2 = const.i8x4 -1
  %sub_sat_u = sub_sat_u.i8x4 %a, %k2
  %sub_sat_s = sub_sat_s.i8x4 %a, %a
  %sub_sat_u2 = sub_sat_u.i8x4 %a, %a
  store %add_sat_u, %out1[%i]
  store %sub_sat_u, %out2[%i]
  store %sub_sat_s, %out3[%i]
  store %sub_sat_u2, %out4[%i]
  ret
}
;= kernel @saturated_at_the_end(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 -1
;=   %sub_sat_u = const.i8x4 0
;=   store %k, %out1[%i]
;=   store %sub_sat_u, %out2[%i]
;=   store %sub_sat_u, %out3[%i]
;=   store %sub_sat_u, %out4[%i]
;=   ret
;= }
; rule: add_sat_u_ones, sub_sat_u_ones, sub_sat_s_self, sub_sat_u_self

; All ones are -1, signed: nothing special.
kernel @signed_saturation_with_ones(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 -1
  %r = add_sat_s.i8x4 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @signed_saturation_with_ones(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 -1
;=   %r = add_sat_s.i8x4 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: add_sat_s_zero, add_sat_u_ones

; Zero less a signed number saturates: it is no negation, which wraps.
kernel @zero_less_signed(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %r = sub_sat_s.i8x4 %k, %a
  store %r, %out[%i]
  ret
}
;= kernel @zero_less_signed(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 0
;=   %r = sub_sat_s.i8x4 %k, %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: zero_sub_sat_u, zero_sub, sub_sat_s_zero

kernel @averages(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %avg_s = avg_s.i8x4 %a, %a
  %avg_u = avg_u.i8x4 %a, %a
  store %avg_s, %out1[%i]
  store %avg_u, %out2[%i]
  ret
}
;= kernel @averages(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   ret
;= }
; rule: avg_s_self, avg_u_self

kernel @distances(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %absdiff_s = absdiff_s.i8x4 %a, %a
  %k = const.i8x4 0
  %absdiff_s2 = absdiff_s.i8x4 %a, %k
  %absdiff_u = absdiff_u.i8x4 %a, %a
  %k2 = const.i8x4 0
  %absdiff_u2 = absdiff_u.i8x4 %a, %k2
  store %absdiff_s, %out1[%i]
  store %absdiff_s2, %out2[%i]
  store %absdiff_u, %out3[%i]
  store %absdiff_u2, %out4[%i]
  ret
}
;= kernel @distances(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %absdiff_s = const.i8x4 0
;=   %absdiff_s2 = abs.i8x4 %a
;=   store %absdiff_s, %out1[%i]
;=   store %absdiff_s2, %out2[%i]
;=   store %absdiff_s, %out3[%i]
;=   store %a, %out4[%i]
;=   ret
;= }
; rule: absdiff_s_self, absdiff_s_zero, absdiff_u_self, absdiff_u_zero

kernel @absolute(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = abs.i8x4 %a
  %abs = abs.i8x4 %x
  %x2 = neg.i8x4 %a
  %abs2 = abs.i8x4 %x2
  store %abs, %out1[%i]
  store %abs2, %out2[%i]
  ret
}
;= kernel @absolute(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x = abs.i8x4 %a
;=   store %x, %out1[%i]
;=   store %x, %out2[%i]
;=   ret
;= }
; rule: abs_abs, abs_neg

kernel @extremes_of_one(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %min_s = min_s.i8x4 %a, %a
  %max_s = max_s.i8x4 %a, %a
  %min_u = min_u.i8x4 %a, %a
  %max_u = max_u.i8x4 %a, %a
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  store %min_u, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
;= kernel @extremes_of_one(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %a, %out4[%i]
;=   ret
;= }
; rule: min_s_self, max_s_self, min_u_self, max_u_self

kernel @extremes_with_bounds(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %min_u = min_u.i8x4 %a, %k
  %k2 = const.i8x4 -1
  %min_u2 = min_u.i8x4 %a, %k2
  %k3 = const.i8x4 0
  %max_u = max_u.i8x4 %a, %k3
  %k4 = const.i8x4 -1
  %max_u2 = max_u.i8x4 %a, %k4
  store %min_u, %out1[%i]
  store %min_u2, %out2[%i]
  store %max_u, %out3[%i]
  store %max_u2, %out4[%i]
  ret
}
;= kernel @extremes_with_bounds(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 0
;=   %k2 = const.i8x4 -1
;=   store %k, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %k2, %out4[%i]
;=   ret
;= }
; rule: min_u_zero, min_u_ones, max_u_zero, max_u_ones

; Zero is no bound of signed numbers.
kernel @signed_extremes_with_zero(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %r = max_s.i32 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @signed_extremes_with_zero(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   %r = max_s.i32 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: max_u_zero, max_s_self

kernel @extremes_of_constants(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 7
  %x = min_s.i32 %a, %j
  %k = const.i32 -9
  %min_s = min_s.i32 %x, %k
  %j2 = const.i32 7
  %x2 = max_s.i32 %a, %j2
  %k2 = const.i32 -9
  %max_s = max_s.i32 %x2, %k2
  %j3 = const.i32 7
  %x3 = min_u.i32 %a, %j3
  %k3 = const.i32 9
  %min_u = min_u.i32 %x3, %k3
  %j4 = const.i32 7
  %x4 = max_u.i32 %a, %j4
  %k4 = const.i32 9
  %max_u = max_u.i32 %x4, %k4
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  store %min_u, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
;= kernel @extremes_of_constants(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %j = const.i32 7
;=   %k = const.i32 -9
;=   %min_s = min_s.i32 %a, %k
;=   %x2 = max_s.i32 %a, %j
;=   %x3 = min_u.i32 %a, %j
;=   %k3 = const.i32 9
;=   %max_u = max_u.i32 %a, %k3
;=   store %min_s, %out1[%i]
;=   store %x2, %out2[%i]
;=   store %x3, %out3[%i]
;=   store %max_u, %out4[%i]
;=   ret
;= }
; rule: min_s_constants, max_s_constants, min_u_constants, max_u_constants

kernel @extremes_again(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4,
    %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = min_s.i8x4 %a, %b
  %min_s = min_s.i8x4 %x, %b
  %x2 = max_s.i8x4 %a, %b
  %max_s = max_s.i8x4 %x2, %b
  %x3 = min_u.i8x4 %a, %b
  %min_u = min_u.i8x4 %x3, %b
  %x4 = max_u.i8x4 %a, %b
  %max_u = max_u.i8x4 %x4, %b
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  store %min_u, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
;= kernel @extremes_again(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %x = min_s.i8x4 %a, %b
;=   %x2 = max_s.i8x4 %a, %b
;=   %x3 = min_u.i8x4 %a, %b
;=   %x4 = max_u.i8x4 %a, %b
;=   store %x, %out1[%i]
;=   store %x2, %out2[%i]
;=   store %x3, %out3[%i]
;=   store %x4, %out4[%i]
;=   ret
;= }
; rule: min_s_again, max_s_again, min_u_again, max_u_again

; A signed and an unsigned extreme have nothing in common.
kernel @extremes_of_two_kinds(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = min_s.i32 %a, %b
  %r = min_u.i32 %x, %b
  store %r, %out[%i]
  ret
}
;= kernel @extremes_of_two_kinds(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %x = min_s.i32 %a, %b
;=   %r = min_u.i32 %x, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: min_s_again, min_u_again
