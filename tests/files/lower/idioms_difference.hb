; test: lower
; A difference in wide lanes without its sign.
kernel @distance(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %d = sub.i32 %p, %q
  %m = abs.i32 %d
  %r = trunc.i8 %m
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_distance
; check: %r = absdiff_u.i8 %a, %b

kernel @signed_distance(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i16x16 %a
  %q = sext.i16x16 %b
  %d = sub.i16x16 %p, %q
  %m = abs.i16x16 %d
  %r = trunc.i8x16 %m
  store %r, %out[%i]
  ret
}
; rule: absdiff_s_of_distance
; check: %r = absdiff_s.i8x16 %a, %b

kernel @distance_narrowed(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %d = sub.i16 %p, %q
  %m = abs.i16 %d
  %r = narrow_sat_u.i8 %m
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_narrowing
; check: %r = absdiff_u.i8 %a, %b

; In lanes of the same width the difference wraps; and with one sign and the other it has no name.
kernel @distance_that_wraps(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub.i8x4 %a, %b
  %r = abs.i8x4 %d
  store %r, %out[%i]
  ret
}
; no rule: absdiff_s_of_distance
; never: absdiff

kernel @distance_of_both_signs(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = sext.i32 %b
  %d = sub.i32 %p, %q
  %m = abs.i32 %d
  %r = trunc.i8 %m
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_distance, absdiff_s_of_distance
; never: absdiff

kernel @signed_distance_clamped(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i16 %a
  %q = sext.i16 %b
  %d = sub.i16 %p, %q
  %m = abs.i16 %d
  %r = narrow_sat_u.i8 %m
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_narrowing
; never: absdiff

; The greater less the lesser.
kernel @extremes_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_u.i8x4 %a, %b
  %n = min_u.i8x4 %a, %b
  %r = sub.i8x4 %x, %n
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_extremes
; check: %r = absdiff_u.i8x4 %a, %b

kernel @extremes_u_exchanged(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_u.i16x2 %a, %b
  %n = min_u.i16x2 %b, %a
  %r = sub.i16x2 %x, %n
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_extremes_exchanged
; check: %r = absdiff_u.i16x2 %a, %b

kernel @difference_by_choice_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_u.i8x4 %a, %b
  %d = sub.i8x4 %a, %b
  %e = sub.i8x4 %b, %a
  %r = select.i8x4 %c, %e, %d
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_select
; check: %r = absdiff_u.i8x4

kernel @extremes_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_s.i8x4 %a, %b
  %n = min_s.i8x4 %a, %b
  %r = sub.i8x4 %x, %n
  store %r, %out[%i]
  ret
}
; rule: absdiff_s_of_extremes
; check: %r = absdiff_s.i8x4 %a, %b

kernel @extremes_s_exchanged(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_s.i16x2 %a, %b
  %n = min_s.i16x2 %b, %a
  %r = sub.i16x2 %x, %n
  store %r, %out[%i]
  ret
}
; rule: absdiff_s_of_extremes_exchanged
; check: %r = absdiff_s.i16x2 %a, %b

kernel @difference_by_choice_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_s.i8x4 %a, %b
  %d = sub.i8x4 %a, %b
  %e = sub.i8x4 %b, %a
  %r = select.i8x4 %c, %e, %d
  store %r, %out[%i]
  ret
}
; rule: absdiff_s_of_select
; check: %r = absdiff_s.i8x4

; Of one sign and the other, or the wrong way round, it is not.
kernel @extremes_of_both_signs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_u.i8x4 %a, %b
  %n = min_s.i8x4 %a, %b
  %r = sub.i8x4 %x, %n
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_extremes, absdiff_s_of_extremes
; never: absdiff

kernel @lesser_less_greater(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = max_u.i8x4 %a, %b
  %n = min_u.i8x4 %a, %b
  %r = sub.i8x4 %n, %x
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_extremes
; never: absdiff

kernel @difference_by_wrong_choice(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_u.i8x4 %a, %b
  %d = sub.i8x4 %a, %b
  %e = sub.i8x4 %b, %a
  %r = select.i8x4 %c, %d, %e
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_select
; never: absdiff

; Of two that saturate one is zero.
kernel @saturated_either(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %e = sub_sat_u.i8x4 %b, %a
  %r = or.i8x4 %d, %e
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_either
; check: %r = absdiff_u.i8x4 %a, %b

kernel @saturated_both(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %e = sub_sat_u.i8x4 %b, %a
  %r = add.i8x4 %d, %e
  store %r, %out[%i]
  ret
}
; rule: absdiff_u_of_both
; check: %r = absdiff_u.i8x4 %a, %b

kernel @saturated_signed(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub_sat_s.i8x4 %a, %b
  %e = sub_sat_s.i8x4 %b, %a
  %r = or.i8x4 %d, %e
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_either
; never: absdiff

kernel @saturated_with_another(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = sub_sat_u.i8x4 %a, %b
  %e = sub_sat_u.i8x4 %c, %a
  %r = or.i8x4 %d, %e
  store %r, %out[%i]
  ret
}
; no rule: absdiff_u_of_either
; never: absdiff
