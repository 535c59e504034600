; test: isel halu
; Quotients and remainders: an instruction of words or of pairs, of narrow integers extended.

kernel @div_s_i32(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_s.i32 %a, %b    ; check: IDIV.S32
  store %r, %o[%i]
  ret
}
; rule: int_div_s

kernel @div_u_i32(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_u.i32 %a, %b    ; check: IDIV.U32
  store %r, %o[%i]
  ret
}
; rule: int_div_u

kernel @rem_s_i32(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_s.i32 %a, %b    ; check: IREM.S32
  store %r, %o[%i]
  ret
}
; rule: int_rem_s

kernel @rem_u_i32(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_u.i32 %a, %b    ; check: IREM.U32
  store %r, %o[%i]
  ret
}
; rule: int_rem_u

kernel @div_s_i64(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_s.i64 %a, %b    ; check: IDIV.WIDE.S32
  store %r, %o[%i]
  ret
}
; rule: pair_div_s

kernel @div_u_i64(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_u.i64 %a, %b    ; check: IDIV.WIDE.U32
  store %r, %o[%i]
  ret
}
; rule: pair_div_u

kernel @rem_s_i64(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_s.i64 %a, %b    ; check: IREM.WIDE.S32
  store %r, %o[%i]
  ret
}
; rule: pair_rem_s

kernel @rem_u_i64(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_u.i64 %a, %b    ; check: IREM.WIDE.U32
  store %r, %o[%i]
  ret
}
; rule: pair_rem_u

kernel @div_s_i16(%x: in i16, %y: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_s.i16 %a, %b    ; check: IDIV.S32
  store %r, %o[%i]
  ret
}
; rule: narrow_div_s

kernel @div_u_i16(%x: in i16, %y: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = div_u.i16 %a, %b    ; check: IDIV.U32
  store %r, %o[%i]
  ret
}
; rule: narrow_div_u

kernel @rem_s_i16(%x: in i16, %y: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_s.i16 %a, %b    ; check: IREM.S32
  store %r, %o[%i]
  ret
}
; rule: narrow_rem_s

kernel @rem_u_i16(%x: in i16, %y: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rem_u.i16 %a, %b    ; check: IREM.U32
  store %r, %o[%i]
  ret
}
; rule: narrow_rem_u
