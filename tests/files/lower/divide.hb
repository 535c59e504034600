; test: lower passes=legalise,dce
; Quotients and remainders by constants, on a target that has all products.
; The multiplier has 32 bits.
kernel @word(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 10
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_high_product

; The multiplier of 7 has 33 bits, but the dividend has 30 bits after the shift.
kernel @even(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 28
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_product_of_shifted

kernel @most(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -3
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_compare

kernel @wide(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_increased_product

kernel @pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 7
  %r = div_u.i64 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_sum

; The dividend has 16 bits: the upper half is the quotient.
kernel @known_range(%x: in i16, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 7
  %r = div_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; check: mul_hi_u.i32
; next: store
; rule: div_u_by_high_product

kernel @byte(%x: in i8, %o: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8 10
  %r = div_u.i8 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_in_word, div_u_by_high_product

kernel @remainder(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 10
  %r = rem_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_by_quotient, div_u_by_high_product

kernel @remainder_of_half_word(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i16 1000
  %r = rem_u.i16 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_in_word, rem_u_by_quotient

kernel @signed(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 10
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_high_product

kernel @signed_by_negative(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -10
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_high_product

kernel @signed_sum(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_sum

kernel @signed_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 8
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_power

kernel @signed_negative_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -2147483648
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_negative_power

kernel @signed_byte(%x: in i8, %o: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8 -7
  %r = div_s.i8 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_in_word, div_s_by_high_product

kernel @signed_remainder(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -10
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_by_quotient, div_s_by_high_product

kernel @signed_remainder_of_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -8
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_by_power

kernel @signed_remainder_of_byte(%x: in i8, %o: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8 100
  %r = rem_s.i8 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_in_word, rem_s_by_quotient

kernel @by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_u.i32
; no rule: div_u_by_high_product
; no rule: div_u_by_increased_product

kernel @by_one(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 1
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i32
; no rule: div_s_by_high_product
; no rule: div_s_by_power

kernel @by_minus_one(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 -1
  %r = div_s.i64 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i64
; no rule: div_s_by_high_product
; no rule: div_s_by_negative_power

kernel @by_itself(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = div_u.i32 %a, %a
  store %r, %o[%i]
  ret
}
; check: div_u.i32
; no rule: div_u_by_high_product

kernel @remainder_by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; check: rem_s.i32
; no rule: rem_s_by_quotient
; no rule: rem_s_by_power

; test: lower passes=legalise,dce without=add.i64
; Without 64-bit sums, the upper half of the product is added to the dividend.
kernel @sum(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_sum

; test: lower passes=legalise,dce without=div_u.i32,div_s.i32,mul_hi_u.i32,mul_hi_s.i32,mul_wide_u.i32,mul_wide_s.i32,add.i64,mul.i64
; A target that has only products of 32 bits.
kernel @low_product(%x: in i16, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 10
  %r = div_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_low_product

kernel @low_sum(%x: in i16, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 7
  %r = div_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_low_sum

kernel @signed_low_product(%x: in i16, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = sext.i32 %a
  %k = const.i32 -7
  %r = div_s.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_low_product

; test: lower passes=legalise,dce without=mul_hi_u.i64
; A target that has 64-bit divisions but no high products of 64 bits keeps the division.
kernel @kept(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 10
  %r = div_u.i64 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_u.i64
; no rule: div_u_by_high_product

; test: lower passes=canon,dce
; Narrower and unsigned divisions of dividends with a known range.
kernel @unsigned(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 10
  %r = div_s.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_of_non_negative

kernel @unsigned_remainder(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 8
  %r = rem_s.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_of_non_negative, rem_u_by_power

kernel @less(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 257
  %r = div_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_below

kernel @remainder_of_less(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 1000
  %r = rem_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_below

kernel @word_in_pair(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i64 %a
  %k = const.i64 10
  %r = div_u.i64 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_in_words

kernel @word_remainder_in_pair(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i64 %a
  %k = const.i64 10
  %r = rem_u.i64 %z, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_in_words

kernel @signed_word_in_pair(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = sext.i64 %a
  %k = const.i64 -10
  %r = div_s.i64 %z, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_in_words

kernel @signed_word_remainder_in_pair(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = sext.i64 %a
  %k = const.i64 10
  %r = rem_s.i64 %z, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_in_words

kernel @signed_dividend(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = sext.i32 %a
  %k = const.i32 10
  %r = div_s.i32 %z, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i32
; no rule: div_s_of_non_negative

kernel @negative_divisor(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 -10
  %r = div_s.i32 %z, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i32
; no rule: div_s_of_non_negative

kernel @not_less(%x: in i8, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = zext.i32 %a
  %k = const.i32 255
  %r = div_u.i32 %z, %k
  store %r, %o[%i]
  ret
}
; check: div_u.i32
; no rule: div_u_below

kernel @whole_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 10
  %r = div_u.i64 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_u.i64
; no rule: div_u_in_words

; -2147483648 / 2147483648 is -1.
kernel @long_divisor(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = sext.i64 %a
  %k = const.i64 2147483648
  %r = div_s.i64 %z, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i64
; no rule: div_s_in_words
