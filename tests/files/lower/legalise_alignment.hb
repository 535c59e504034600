; test: lower passes=legalise
; Accesses with less than the alignment that the target asks for are done by parts.

kernel @words_at_any_byte(%x: in i8, %y: out i8x4) {
^entry:
  %i = item_id
  %v = load.i8x4 %x[%i] align 1
  store %v, %y[%i]
  ret
}
;= kernel @words_at_any_byte(%x: in i8, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %v = load.i8x4 %x[%i]
;=   store %v, %y[%i]
;=   ret
;= }

; The index counts in words, so the parts have bases of their own.
kernel @words_at_even_bytes(%x: in i8x4 align 2, %y: out i8x4 align 2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}
;= kernel @words_at_even_bytes(%x: in i8x4 align 2, %y: out i8x4 align 2) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   store %v, %y[%i]
;=   ret
;= }

kernel @aligned(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}
;= kernel @aligned(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   store %v, %y[%i]
;=   ret
;= }

; Lanes shifted each by its own count, and all by one.
kernel @counts(%x: in i8x4, %n: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %k = load %n[%i]
  %r = shl.i8x4 %v, %k
  %three = const.i8x4 3
  %s = shl.i8x4 %r, %three
  store %s, %y[%i]
  ret
}
;= kernel @counts(%x: in i8x4, %n: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   %k = load %n[%i]
;=   %r = shl.i8x4 %v, %k
;=   %three = const.i8x4 3
;=   %s = shl.i8x4 %r, %three
;=   store %s, %y[%i]
;=   ret
;= }
