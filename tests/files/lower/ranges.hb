; test: lower
; A mask that clears only known zeros has no effect.
kernel @and_known(%a_in: in i8x4, %out0: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i8x4 4
  %x = shr_u.i8x4 %a, %n
  %k = const.i8x4 15
  %r = and.i8x4 %x, %k
  store %r, %out0[%i]
  ret
}
; rule: and_clears_nothing
; never: and

; A mask that clears an unknown bit stays.
kernel @and_unknown(%a_in: in i8x4, %out0: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i8x4 3
  %x = shr_u.i8x4 %a, %n
  %k = const.i8x4 15
  %r = and.i8x4 %x, %k
  store %r, %out0[%i]
  ret
}
; no rule: and_clears_nothing
; check: %r = and.i8x4

; The bits of each lane are known separately.
kernel @and_lanes(%a_in: in i32, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0x0f00ff0f
  %x = and.i32 %a, %k
  %y = bitcast.i8x4 %x
  %m = const.i8x4 [15, -1, 0, 31]
  %r = and.i8x4 %y, %m
  %l = const.i8x4 [15, -1, 0, 7]
  %s = and.i8x4 %y, %l
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: and_clears_nothing
; never: %r = and.i8x4
; check: %s = and.i8x4

; The ranges decide comparisons.
kernel @decided(%a_in: in i32, %b_in: in i32, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 15
  %x = and.i32 %a, %k
  %m = const.i32 16
  %c = icmp.lt_u.i32 %x, %m
  %r = select.i32 %c, %a, %b
  store %r, %out0[%i]
  ret
}
; rule: icmp_known
; never: icmp
; never: select

; The ranges overlap.
kernel @undecided(%a_in: in i32, %b_in: in i32, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 15
  %x = and.i32 %a, %k
  %m = const.i32 15
  %c = icmp.lt_u.i32 %x, %m
  %r = select.i32 %c, %a, %b
  store %r, %out0[%i]
  ret
}
; no rule: icmp_known
; check: icmp.lt_u.i32

; A known bit decides an equality.
kernel @decided_by_bit(%a_in: in i32, %b_in: in i32, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 8
  %x = or.i32 %a, %k
  %m = const.i32 7
  %c = icmp.eq.i32 %x, %m
  %r = select.i32 %c, %a, %b
  store %r, %out0[%i]
  ret
}
; rule: icmp_known
; never: select

; A number without a sign is zero-extended.
kernel @extended(%a_in: in i8, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %one = const.i8 1
  %x = shr_u.i8 %a, %one
  %r = sext.i32 %x
  store %r, %out0[%i]
  ret
}
; rule: sext_of_non_negative
; check: %r = zext.i32 %x

; A number that may be negative is sign-extended.
kernel @extended_signed(%a_in: in i8, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %one = const.i8 1
  %x = shr_s.i8 %a, %one
  %r = sext.i32 %x
  store %r, %out0[%i]
  ret
}
; no rule: sext_of_non_negative
; check: %r = sext.i32 %x

; An extension restores a number that the truncation does not change.
kernel @restored(%a_in: in i8, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %w = sext.i32 %a
  %n = const.i32 1
  %x = shr_s.i32 %w, %n
  %t = trunc.i8 %x
  %r = sext.i32 %t
  store %r, %out0[%i]
  ret
}
; rule: sext_of_trunc
; never: trunc

; The truncation changes some numbers.
kernel @not_restored(%a_in: in i8, %out0: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %w = sext.i32 %a
  %x = add.i32 %w, %w
  %t = trunc.i8 %x
  %r = sext.i32 %t
  store %r, %out0[%i]
  ret
}
; no rule: sext_of_trunc
; check: trunc.i8

; Sums and differences that cannot saturate.
kernel @exact(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %p = shr_s.i16x2 %a, %one
  %q = shr_s.i16x2 %b, %one
  %r = add_sat_s.i16x2 %p, %q
  %s = sub_sat_s.i16x2 %p, %q
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: add_sat_s_in_range, sub_sat_s_in_range
; check: %r = add.i16x2
; check: %s = sub.i16x2

; Unsigned ones.
kernel @exact_unsigned(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %r = add_sat_u.i16x2 %x, %h
  %s = sub_sat_u.i16x2 %y, %x
  %t = sub_sat_u.i16x2 %x, %y
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  ret
}
; rule: add_sat_u_in_range, sub_sat_u_in_range, sub_sat_u_below_range
; check: %r = add.i16x2
; check: %s = sub.i16x2
; never: sub_sat

; Sums and differences that may saturate.
kernel @saturating(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2,
    %out3: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %p = shr_s.i16x2 %a, %one
  %r = add_sat_s.i16x2 %p, %b
  %s = sub_sat_s.i16x2 %p, %b
  %t = add_sat_u.i16x2 %x, %y
  %u = sub_sat_u.i16x2 %x, %h
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  store %u, %out3[%i]
  ret
}
; no rule: add_sat_s_in_range, sub_sat_s_in_range, add_sat_u_in_range, sub_sat_u_in_range, sub_sat_u_below_range

; Narrowings of numbers that fit.
kernel @narrowed(%a_in: in i32, %out0: out i16, %out1: out i16, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i32 17
  %p = shr_s.i32 %a, %n
  %r = narrow_sat_s.i16 %p
  %q = shr_u.i32 %a, %n
  %s = narrow_sat_u.i16 %q
  %k = const.i32 16
  %u = shr_u.i32 %a, %k
  %t = narrow_sat_uu.i16 %u
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  ret
}
; rule: narrow_s_in_range, narrow_u_in_range, narrow_uu_in_range
; never: narrow_sat

; Narrowings of numbers that may not fit.
kernel @clamped(%a_in: in i32, %out0: out i16, %out1: out i16, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i32 15
  %p = shr_s.i32 %a, %n
  %r = narrow_sat_s.i16 %p
  %s = narrow_sat_u.i16 %p
  %q = shr_u.i32 %a, %n
  %t = narrow_sat_uu.i16 %q
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  ret
}
; no rule: narrow_s_in_range, narrow_u_in_range, narrow_uu_in_range

; Minimums and maximums of operands whose order is known.
kernel @ordered(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2,
    %out3: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %m0 = min_s.i16x2 %x, %y
  %m1 = min_s.i16x2 %y, %x
  %m2 = max_s.i16x2 %x, %y
  %m3 = max_s.i16x2 %y, %x
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; rule: min_s_left, min_s_right, max_s_left, max_s_right
; check: store %y, %out0[%i]
; next: store %y, %out1[%i]
; next: store %x, %out2[%i]
; next: store %x, %out3[%i]

; The unsigned order is the other one.
kernel @ordered_unsigned(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2,
    %out3: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %m0 = min_u.i16x2 %x, %y
  %m1 = min_u.i16x2 %y, %x
  %m2 = max_u.i16x2 %x, %y
  %m3 = max_u.i16x2 %y, %x
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; rule: min_u_left, min_u_right, max_u_left, max_u_right
; check: store %x, %out0[%i]
; next: store %x, %out1[%i]
; next: store %y, %out2[%i]
; next: store %y, %out3[%i]

; The order of the operands is unknown.
kernel @unordered(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2,
    %out3: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %m0 = min_s.i16x2 %x, %h
  %m1 = max_s.i16x2 %x, %h
  %m2 = min_u.i16x2 %x, %h
  %m3 = max_u.i16x2 %x, %h
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; no rule: min_s_left, min_s_right, max_s_left, max_s_right, min_u_left, min_u_right, max_u_left, max_u_right

; Absolute differences of operands whose order is known, and an absolute value of a number without a sign.
kernel @distances(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2,
    %out3: out i16x2, %out4: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %m0 = absdiff_u.i16x2 %x, %y
  %m1 = absdiff_u.i16x2 %y, %x
  %m2 = absdiff_s.i16x2 %x, %y
  %m3 = absdiff_s.i16x2 %y, %x
  %m4 = abs.i16x2 %x
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  store %m4, %out4[%i]
  ret
}
; rule: absdiff_u_left, absdiff_u_right, absdiff_s_left, absdiff_s_right, abs_of_non_negative
; never: abs
; check: sub.i16x2

; The order and the sign are unknown.
kernel @unknown_distances(%a_in: in i16x2, %b_in: in i16x2, %out0: out i16x2, %out1: out i16x2, %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i16x2 1
  %x = shr_u.i16x2 %a, %one
  %h = shr_u.i16x2 %b, %one
  %y = not.i16x2 %h
  %m0 = absdiff_u.i16x2 %x, %h
  %m1 = absdiff_s.i16x2 %a, %h
  %m2 = abs.i16x2 %a
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  ret
}
; no rule: absdiff_u_left, absdiff_u_right, absdiff_s_left, absdiff_s_right, abs_of_non_negative

; Quotients and remainders of numbers without a sign.
kernel @quotients(%a_in: in i32, %b_in: in i32, %out0: out i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i32 1
  %x = shr_u.i32 %a, %one
  %h = shr_u.i32 %b, %one
  %y = not.i32 %h
  %m0 = div_s.i32 %x, %h
  %m1 = rem_s.i32 %x, %h
  %m2 = div_u.i32 %x, %y
  %m3 = rem_u.i32 %x, %y
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; rule: div_s_of_non_negative, rem_s_of_non_negative, div_u_below, rem_u_below
; check: div_u.i32
; check: rem_u.i32
; never: div_s
; never: %y =

; The dividend may be negative, or at least the divisor.
kernel @unknown_quotients(%a_in: in i32, %b_in: in i32, %out0: out i32, %out1: out i32, %out2: out i32,
    %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %one = const.i32 1
  %x = shr_u.i32 %a, %one
  %h = shr_u.i32 %b, %one
  %y = not.i32 %h
  %m0 = div_s.i32 %a, %h
  %m1 = rem_s.i32 %x, %b
  %m2 = div_u.i32 %a, %y
  %m3 = rem_u.i32 %x, %h
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; no rule: div_s_of_non_negative, rem_s_of_non_negative, div_u_below, rem_u_below

; 64-bit operations on numbers of 32 bits.
kernel @words(%a_in: in i32, %b_in: in i32, %p_in: in i64, %out0: out i64, %out1: out i64, %out2: out i64,
    %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = load %p_in[%i]
  %x = sext.i64 %a
  %y = sext.i64 %b
  %m0 = mul.i64 %x, %y
  %n = const.i64 32
  %u = shr_u.i64 %p, %n
  %v = zext.i64 %b
  %m1 = mul.i64 %u, %v
  %one = const.i64 1
  %w = or.i64 %v, %one
  %m2 = div_u.i64 %u, %w
  %m3 = rem_u.i64 %u, %w
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; rule: mul_in_words_s, mul_in_words_u, div_u_in_words, rem_u_in_words
; check: mul_wide_s.i32
; check: mul_wide_u.i32
; check: div_u.i32
; check: rem_u.i32

; Comparisons of them.
kernel @word_comparisons(%a_in: in i32, %b_in: in i32, %out0: out i32, %out1: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = sext.i64 %a
  %y = sext.i64 %b
  %c = icmp.lt_s.i64 %x, %y
  %r = select.i32 %c, %a, %b
  %u = zext.i64 %a
  %v = zext.i64 %b
  %d = icmp.lt_s.i64 %u, %v
  %s = select.i32 %d, %a, %b
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: icmp_in_words_s, icmp_in_words_u
; never: i64

; Numbers that may have more bits, and a divisor that may be zero.
kernel @long(%a_in: in i32, %p_in: in i64, %out0: out i64, %out1: out i64, %out2: out i64, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %p = load %p_in[%i]
  %x = zext.i64 %a
  %n = const.i64 31
  %u = shr_u.i64 %p, %n
  %m0 = mul.i64 %x, %u
  %m1 = div_u.i64 %u, %x
  %k = const.i64 32
  %v = shr_u.i64 %p, %k
  %m2 = rem_u.i64 %v, %x
  %c = icmp.lt_u.i64 %u, %x
  %m3 = select.i64 %c, %u, %x
  store %m0, %out0[%i]
  store %m1, %out1[%i]
  store %m2, %out2[%i]
  store %m3, %out3[%i]
  ret
}
; no rule: mul_in_words_s, mul_in_words_u, div_u_in_words, rem_u_in_words, icmp_in_words_s, icmp_in_words_u

; test: lower without=round_shr_s.i32,round_shr_u.i32
; The rounding constant cannot overflow: a sum and a shift.
kernel @rounded(%a_in: in i16x2, %out0: out i32, %out1: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %w = extract.i16x2 %a, 0
  %v = extract.i16x2 %a, 1
  %p = sext.i32 %w
  %q = sext.i32 %v
  %m = mul.i32 %p, %q
  %n = const.i32 15
  %r = round_shr_s.i32 %m, %n
  %u = zext.i32 %w
  %s = round_shr_u.i32 %u, %n
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: round_shr_s_in_range, round_shr_u_in_range
; check: shr_s.i32
; check: shr_u.i32
; never: shl

; The sum may overflow.
kernel @rounded_all(%a_in: in i32, %out0: out i32, %out1: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %n = const.i32 15
  %r = round_shr_s.i32 %a, %n
  %s = round_shr_u.i32 %a, %n
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; no rule: round_shr_s_in_range, round_shr_u_in_range
