; test: lower
; Sums and differences that are clamped in wide lanes saturate in narrow ones.
kernel @clamped_sum(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 -128
  %h = const.i32 127
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: add_sat_s_of_clamp
; check: %r = add_sat_s.i8 %a, %b
; never: sext
; never: trunc

kernel @clamped_difference(%a_in: in i16, %b_in: in i16, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = sub.i32 %p, %q
  %l = const.i32 -32768
  %h = const.i32 32767
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i16 %n
  store %r, %out[%i]
  ret
}
; rule: sub_sat_s_of_clamp
; check: %r = sub_sat_s.i16 %a, %b

kernel @clamped_sum_of_bytes(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %x = add.i16x16 %p, %q
  %l = const.i16x16 0
  %h = const.i16x16 255
  %m = max_s.i16x16 %x, %l
  %n = min_s.i16x16 %m, %h
  %r = trunc.i8x16 %n
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_clamp
; check: %r = add_sat_u.i8x16 %a, %b

kernel @clamped_difference_of_bytes(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %x = sub.i32 %p, %q
  %l = const.i32 0
  %h = const.i32 255
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_clamp
; check: %r = sub_sat_u.i8 %a, %b

; A sum of what is not negative has no lower bound to keep.
kernel @clamped_above(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %x = add.i32 %p, %q
  %h = const.i32 255
  %n = min_s.i32 %x, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_clamp
; check: %r = add_sat_u.i8 %a, %b

; Constants that fit are operands as good as any; those below zero are subtracted.
kernel @brightened(%a_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %p = zext.i32 %a
  %k = const.i32 40
  %x = add.i32 %p, %k
  %l = const.i32 0
  %h = const.i32 255
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_clamp
; check: add_sat_u.i8 %a

kernel @darkened(%a_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %p = zext.i32 %a
  %k = const.i32 -40
  %x = add.i32 %p, %k
  %l = const.i32 0
  %h = const.i32 255
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_sum
; check: sub_sat_u.i8 %a

; By comparisons, as C has it: s < -128 ? -128 : s > 127 ? 127 : s.
kernel @clamped_by_select(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %s = add.i32 %p, %q
  %h = const.i32 127
  %l = const.i32 -128
  %c = icmp.gt_s.i32 %s, %h
  %m = select.i32 %c, %h, %s
  %d = icmp.lt_s.i32 %s, %l
  %n = select.i32 %d, %l, %m
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: select_min_s_right, max_s_of_clamp, add_sat_s_of_clamp
; check: %r = add_sat_s.i8 %a, %b

kernel @clamped_by_select_low_first(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %s = sub.i32 %p, %q
  %h = const.i32 127
  %l = const.i32 -128
  %c = icmp.lt_s.i32 %s, %l
  %m = select.i32 %c, %l, %s
  %d = icmp.gt_s.i32 %s, %h
  %n = select.i32 %d, %h, %m
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: min_s_of_clamp, sub_sat_s_of_clamp
; check: %r = sub_sat_s.i8 %a, %b

kernel @kept_by_select(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %h = const.i32 255
  %l = const.i32 0
  %m = min_s.i32 %a, %h
  %c = icmp.ge_s.i32 %a, %l
  %n = select.i32 %c, %m, %l
  %o = max_s.i32 %a, %l
  %d = icmp.le_s.i32 %a, %h
  %e = select.i32 %d, %o, %h
  %r = mul.i32 %n, %e
  store %r, %out[%i]
  ret
}
; rule: max_s_of_clamp_right, min_s_of_clamp_right
; never: select

; Not where the bounds are those of other lanes, are crossed, or an operand is wider.
kernel @other_bounds(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 -127
  %h = const.i32 127
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_s_of_clamp
; check: trunc.i8

kernel @signed_clamp_of_unsigned(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 -128
  %h = const.i32 127
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_s_of_clamp, add_sat_u_of_clamp
; check: trunc.i8

kernel @unsigned_clamp_of_signed(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 0
  %h = const.i32 255
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_s_of_clamp, add_sat_u_of_clamp
; check: trunc.i8

kernel @of_both_signs(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = sext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 0
  %h = const.i32 255
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_clamp
; check: trunc.i8

kernel @wider_operand(%a_in: in i8, %b_in: in i16, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = add.i32 %p, %q
  %l = const.i32 -128
  %h = const.i32 127
  %m = max_s.i32 %x, %l
  %n = min_s.i32 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_s_of_clamp
; check: trunc.i8

kernel @of_three(%a_in: in i8, %b_in: in i8, %c_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %t = zext.i32 %c
  %s = add.i32 %p, %q
  %x = add.i32 %s, %t
  %h = const.i32 255
  %n = min_s.i32 %x, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: add_sat_u_of_clamp
; check: trunc.i8

; A difference may be below zero.
kernel @one_sided(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %x = sub.i32 %p, %q
  %h = const.i32 255
  %n = min_s.i32 %x, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: sub_sat_u_of_clamp
; check: trunc.i8

kernel @crossed_bounds(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %h = const.i32 -5
  %l = const.i32 3
  %m = min_s.i32 %a, %h
  %c = icmp.lt_s.i32 %a, %l
  %r = select.i32 %c, %l, %m
  store %r, %out[%i]
  ret
}
; no rule: max_s_of_clamp
; check: select

kernel @another_bound(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %h = const.i32 9
  %l = const.i32 3
  %k = const.i32 4
  %m = min_s.i32 %a, %h
  %c = icmp.lt_s.i32 %a, %k
  %r = select.i32 %c, %l, %m
  store %r, %out[%i]
  ret
}
; no rule: max_s_of_clamp
; check: select

; Narrowed, not clamped and cut.
kernel @narrowed_sum(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i16x16 %a
  %q = sext.i16x16 %b
  %x = add.i16x16 %p, %q
  %r = narrow_sat_s.i8x16 %x
  store %r, %out[%i]
  ret
}
; rule: add_sat_s_of_narrowing
; check: %r = add_sat_s.i8x16 %a, %b

kernel @narrowed_difference(%a_in: in i16, %b_in: in i16, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %x = sub.i32 %p, %q
  %r = narrow_sat_s.i16 %x
  store %r, %out[%i]
  ret
}
; rule: sub_sat_s_of_narrowing
; check: %r = sub_sat_s.i16 %a, %b

kernel @narrowed_unsigned_sum(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %x = add.i16x16 %p, %q
  %r = narrow_sat_u.i8x16 %x
  store %r, %out[%i]
  ret
}
; rule: add_sat_u_of_narrowing
; check: %r = add_sat_u.i8x16 %a, %b

kernel @narrowed_unsigned_difference(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %x = sub.i16 %p, %q
  %r = narrow_sat_u.i8 %x
  store %r, %out[%i]
  ret
}
; rule: sub_sat_u_of_narrowing
; check: %r = sub_sat_u.i8 %a, %b

kernel @unsigned_sum_narrowed(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %x = add.i16 %p, %q
  %r = narrow_sat_uu.i8 %x
  store %r, %out[%i]
  ret
}
; rule: add_sat_uu_of_narrowing
; check: %r = add_sat_u.i8 %a, %b

; Without its sign a difference below zero is a large number.
kernel @unsigned_difference_narrowed(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %x = sub.i16 %p, %q
  %r = narrow_sat_uu.i8 %x
  store %r, %out[%i]
  ret
}
; no rule: sub_sat_u_of_narrowing
; check: narrow_sat_uu.i8

kernel @signed_narrowing_of_unsigned(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %x = add.i16 %p, %q
  %r = narrow_sat_s.i8 %x
  store %r, %out[%i]
  ret
}
; no rule: add_sat_s_of_narrowing
; check: narrow_sat_s.i8

; Half the width has ops that clamp as they narrow.
kernel @clamped_to_half(%a_in: in i16, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %l = const.i16 -128
  %h = const.i16 127
  %m = max_s.i16 %a, %l
  %n = min_s.i16 %m, %h
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; rule: narrow_sat_s_of_clamp
; check: %r = narrow_sat_s.i8 %a

kernel @clamped_to_unsigned_half(%a_in: in i32, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %l = const.i32 0
  %h = const.i32 65535
  %m = min_s.i32 %a, %h
  %n = max_s.i32 %m, %l
  %r = trunc.i16 %n
  store %r, %out[%i]
  ret
}
; rule: narrow_sat_u_of_clamp
; check: %r = narrow_sat_u.i16 %a

; A quarter has not.
kernel @clamped_to_quarter(%a_in: in i32, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %l = const.i32 0
  %h = const.i32 255
  %m = min_s.i32 %a, %h
  %n = max_s.i32 %m, %l
  %r = trunc.i8 %n
  store %r, %out[%i]
  ret
}
; no rule: narrow_sat_u_of_clamp
; check: trunc.i8

; Half a sum in wide lanes, rounded up.
kernel @average(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %k = const.i32 1
  %x = add.i32 %p, %q
  %y = add.i32 %x, %k
  %z = shr_s.i32 %y, %k
  %r = trunc.i8 %z
  store %r, %out[%i]
  ret
}
; rule: avg_u_of_half
; check: %r = avg_u.i8 %a, %b

kernel @average_with_one_first(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %k = const.i16x16 1
  %x = add.i16x16 %q, %k
  %y = add.i16x16 %p, %x
  %z = shr_u.i16x16 %y, %k
  %r = trunc.i8x16 %z
  store %r, %out[%i]
  ret
}
; rule: avg_u_of_half
; check: %r = avg_u.i8x16 %a, %b

kernel @average_narrowed(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %k = const.i16 1
  %x = add.i16 %p, %q
  %z = round_shr_s.i16 %x, %k
  %r = narrow_sat_u.i8 %z
  store %r, %out[%i]
  ret
}
; rule: avg_u_of_narrowing
; check: %r = avg_u.i8 %a, %b

kernel @average_narrowed_unsigned(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i16 %a
  %q = zext.i16 %b
  %k = const.i16 1
  %x = add.i16 %p, %q
  %z = round_shr_u.i16 %x, %k
  %r = narrow_sat_uu.i8 %z
  store %r, %out[%i]
  ret
}
; rule: avg_uu_of_narrowing
; check: %r = avg_u.i8 %a, %b

; avg_s is not this: it rounds negative sums down.
kernel @signed_average(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i32 %a
  %q = sext.i32 %b
  %k = const.i32 1
  %x = add.i32 %p, %q
  %y = add.i32 %x, %k
  %z = shr_s.i32 %y, %k
  %r = trunc.i8 %z
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_half
; never: avg

kernel @rounded_down(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %k = const.i32 1
  %x = add.i32 %p, %q
  %z = shr_s.i32 %x, %k
  %r = trunc.i8 %z
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_half
; never: avg

kernel @a_quarter(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %k = const.i32 1
  %n = const.i32 2
  %x = add.i32 %p, %q
  %y = add.i32 %x, %k
  %z = shr_s.i32 %y, %n
  %r = trunc.i8 %z
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_half
; never: avg

; In lanes of the same width the sum wraps.
kernel @average_that_wraps(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i8x4 1
  %x = add.i8x4 %a, %b
  %y = add.i8x4 %x, %k
  %r = shr_u.i8x4 %y, %k
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_half
; never: avg

; By bits: (a | b) - ((a ^ b) >> 1).
kernel @average_of_bits(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %o = or.i8x4 %a, %b
  %x = xor.i8x4 %a, %b
  %k = const.i8x4 1
  %h = shr_u.i8x4 %x, %k
  %r = sub.i8x4 %o, %h
  store %r, %out[%i]
  ret
}
; rule: avg_u_of_bits
; check: %r = avg_u.i8x4 %a, %b

kernel @average_of_bits_exchanged(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %o = or.i16x2 %a, %b
  %x = xor.i16x2 %b, %a
  %k = const.i16x2 1
  %h = shr_u.i16x2 %x, %k
  %r = sub.i16x2 %o, %h
  store %r, %out[%i]
  ret
}
; rule: avg_u_of_bits_exchanged
; check: %r = avg_u.i16x2 %a, %b

; With the sign kept, or of wider lanes, it is another number.
kernel @average_of_signed_bits(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %o = or.i8x4 %a, %b
  %x = xor.i8x4 %a, %b
  %k = const.i8x4 1
  %h = shr_s.i8x4 %x, %k
  %r = sub.i8x4 %o, %h
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_bits
; never: avg

kernel @average_of_long_bits(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %o = or.i64 %a, %b
  %x = xor.i64 %a, %b
  %k = const.i64 1
  %h = shr_u.i64 %x, %k
  %r = sub.i64 %o, %h
  store %r, %out[%i]
  ret
}
; no rule: avg_u_of_bits
; never: avg

; test: isel vp1
; A sum in words that is clamped to bytes is narrowed twice: so VP1 can do it.
kernel @quarter(%x: in i8x16, %z: in i8x16, %y: out i8x16, %t: out i8x16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %u = load %z[%i]
  %a = sext.i32x16 %v
  %b = sext.i32x16 %u
  %k = const.i32x16 39
  %l = const.i32x16 27
  %p = mul.i32x16 %a, %k
  %q = mul.i32x16 %b, %l
  %s = add.i32x16 %p, %q
  %n = const.i32x16 6
  %w = shr_s.i32x16 %s, %n
  %high = const.i32x16 127
  %low = const.i32x16 -128
  %c = min_s.i32x16 %w, %high
  %d = max_s.i32x16 %c, %low
  %e = trunc.i8x16 %d          ; check: vmad2 s factor rd int 0x2 hi
  store %e, %y[%i]
  %255 = const.i32x16 255
  %0 = const.i32x16 0
  %f = max_s.i32x16 %w, %0
  %g = min_s.i32x16 %f, %255
  %h = trunc.i8x16 %g          ; check: vmad2 u factor rd int 0x2 hi
  store %h, %t[%i]
  ret
}
; rule: narrow_sat_s_twice, narrow_sat_u_twice

; test: lower
; Single numbers stay as they are: two narrowings take more than a minimum and a maximum.
kernel @number(%x: in i32, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %high = const.i32 127
  %low = const.i32 -128
  %c = min_s.i32 %v, %high
  %d = max_s.i32 %c, %low
  %e = trunc.i8 %d             ; check: trunc.i8
  store %e, %y[%i]
  ret
}
; never: narrow_sat_s

; A range of which one end is another is none of a byte's.
kernel @short_of_it(%x: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %a = sext.i32x16 %v
  %k = const.i32x16 37
  %p = mul.i32x16 %a, %k
  %high = const.i32x16 127
  %low = const.i32x16 -127
  %c = min_s.i32x16 %p, %high
  %d = max_s.i32x16 %c, %low
  %e = trunc.i8x16 %d
  store %e, %y[%i]
  ret
}
; no rule: narrow_sat_s_twice
