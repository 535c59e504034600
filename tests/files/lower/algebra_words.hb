; test: lower passes=canon,dce
; Products with a word that is extended are those of words, and a truth that was made a number is the truth.

kernel @mul_of_sext(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = sext.i64 %a
  %k = const.i64 -12
  %r = mul.i64 %w, %k
  store %r, %o[%i]
  ret
}
; rule: mul_in_words_s

kernel @mul_of_zext(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = zext.i64 %a
  %k = const.i64 12
  %r = mul.i64 %w, %k
  store %r, %o[%i]
  ret
}
; rule: mul_in_words_u

kernel @mul_of_sext_by_more(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = sext.i64 %a
  %k = const.i64 2147483648
  %r = mul.i64 %w, %k
  store %r, %o[%i]
  ret
}
; check: mul.i64
; no rule: mul_in_words_s

kernel @mul_of_zext_by_negative(%x: in i32, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = zext.i64 %a
  %k = const.i64 -12
  %r = mul.i64 %w, %k
  store %r, %o[%i]
  ret
}
; check: mul.i64
; no rule: mul_in_words_u

kernel @truth_of_number(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %c = icmp.lt_s.i32 %a, %seven
  %one = const.i16 1
  %zero = const.i16 0
  %n = select.i16 %c, %one, %zero
  %k = const.i16 1
  %t = icmp.eq.i16 %n, %k
  %r = select.i32 %t, %a, %seven
  store %r, %o[%i]
  ret
}
; rule: truth_of_number

kernel @truth_of_number_ne(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %c = icmp.lt_s.i32 %a, %seven
  %one = const.i16 1
  %zero = const.i16 0
  %n = select.i16 %c, %one, %zero
  %k = const.i16 0
  %t = icmp.ne.i16 %n, %k
  %r = select.i32 %t, %a, %seven
  store %r, %o[%i]
  ret
}
; rule: truth_of_number_ne

kernel @falsehood_of_number(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %c = icmp.lt_s.i32 %a, %seven
  %one = const.i16 1
  %zero = const.i16 0
  %n = select.i16 %c, %one, %zero
  %k = const.i16 0
  %t = icmp.eq.i16 %n, %k
  %r = select.i32 %t, %a, %seven
  store %r, %o[%i]
  ret
}
; rule: falsehood_of_number

kernel @falsehood_of_number_ne(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %c = icmp.lt_s.i32 %a, %seven
  %one = const.i16 1
  %zero = const.i16 0
  %n = select.i16 %c, %one, %zero
  %k = const.i16 1
  %t = icmp.ne.i16 %n, %k
  %r = select.i32 %t, %a, %seven
  store %r, %o[%i]
  ret
}
; rule: falsehood_of_number_ne

kernel @truth_of_neither(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %c = icmp.lt_s.i32 %a, %seven
  %large = const.i16 7
  %zero = const.i16 0
  %n = select.i16 %c, %large, %zero
  %k = const.i16 2
  %t = icmp.eq.i16 %n, %k
  %r = select.i32 %t, %a, %seven
  store %r, %o[%i]
  ret
}
; check: icmp.eq.i16
; no rule: truth_of_number
