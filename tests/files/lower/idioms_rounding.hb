; test: lower
; A half is added in wide lanes before a shift: the shift rounds.
kernel @rounded(%x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = zext.i32 %v
  %h = const.i32 32
  %s = add.i32 %w, %h
  %n = const.i32 6
  %q = shr_u.i32 %s, %n
  %r = trunc.i8 %q
  store %r, %y[%i]
  ret
}
; rule: round_shr_u_of_sum
; check: %r = round_shr_u.i8 %v, %
; never: zext
; never: trunc

; Which bits are shifted in does not matter where they are not kept.
kernel @rounded_signed(%x: in i16, %y: out i16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = sext.i32 %v
  %h = const.i32 4
  %s = add.i32 %h, %w
  %n = const.i32 3
  %q = shr_u.i32 %s, %n
  %r = trunc.i16 %q
  store %r, %y[%i]
  ret
}
; rule: round_shr_s_of_sum
; check: %r = round_shr_s.i16 %v, %

; What is added is not a half.
kernel @other(%x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = zext.i32 %v
  %h = const.i32 31
  %s = add.i32 %w, %h
  %n = const.i32 6
  %q = shr_u.i32 %s, %n
  %r = trunc.i8 %q
  store %r, %y[%i]
  ret
}
; no rule: round_shr_u_of_sum
; check: shr_u.i32

; A shift by the width of the narrow lanes is one by none there.
kernel @all_bits(%x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = zext.i32 %v
  %h = const.i32 128
  %s = add.i32 %w, %h
  %n = const.i32 8
  %q = shr_u.i32 %s, %n
  %r = trunc.i8 %q
  store %r, %y[%i]
  ret
}
; no rule: round_shr_u_of_sum
; check: shr_u.i32

; In lanes of the same width the sum wraps.
kernel @wraps(%x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %h = const.i8 32
  %s = add.i8 %v, %h
  %n = const.i8 6
  %r = shr_u.i8 %s, %n
  store %r, %y[%i]
  ret
}
; no rule: round_shr_u_of_sum
; check: shr_u.i8

; A sum of more than the byte and a half is no byte.
kernel @sum(%x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = zext.i32 %v
  %3 = const.i32 3
  %m = mul.i32 %w, %3
  %h = const.i32 2
  %s = add.i32 %m, %h
  %q = shr_u.i32 %s, %h
  %r = trunc.i8 %q
  store %r, %y[%i]
  ret
}
; no rule: round_shr_u_of_sum
; check: shr_u.i32

; test: lower halu
; Without such a shift it is written out again, in a word.
kernel @again(%x: in i8, %z: in i16, %y: out i8, %t: out i16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %n = const.i8 6
  %q = round_shr_u.i8 %v, %n
  store %q, %y[%i]
  %w = load %z[%i]
  %m = const.i16 3
  %r = round_shr_s.i16 %w, %m
  store %r, %t[%i]
  ret
}
; rule: round_shr_u_in_word, round_shr_s_in_word
;= kernel @again(%x: in i8, %z: in i16, %y: out i8, %t: out i16) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   %0 = zext.i32 %v
;=   %1 = const.i32 32
;=   %2 = add.i32 %0, %1
;=   %3 = const.i32 6
;=   %4 = shr_u.i32 %2, %3
;=   %q = trunc.i8 %4
;=   store %q, %y[%i]
;=   %w = load %z[%i]
;=   %5 = sext.i32 %w
;=   %6 = const.i32 4
;=   %7 = add.i32 %5, %6
;=   %8 = const.i32 3
;=   %9 = shr_s.i32 %7, %8
;=   %r = trunc.i16 %9
;=   store %r, %t[%i]
;=   ret
;= }

; By what only a launch knows it is not.
kernel @by_some(%n: i8, %x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %q = round_shr_u.i8 %v, %n
  store %q, %y[%i]
  ret
}
; no rule: round_shr_u_in_word
; check: shl
