; test: lower passes=canon,dce
; Quotients and remainders by numbers.
kernel @div_u_by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_zero

kernel @div_u_by_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 8
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_u_by_power

kernel @div_s_by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_zero

kernel @div_s_by_one(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 1
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_one

kernel @div_s_by_minus_one(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -1
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: div_s_by_minus_one

kernel @rem_u_by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = rem_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_by_zero

kernel @rem_u_by_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 8
  %r = rem_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_u_by_power

kernel @rem_s_by_zero(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 0
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_by_zero

kernel @rem_s_by_one(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 1
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_by_one

kernel @rem_s_by_minus_one(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 -1
  %r = rem_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; rule: rem_s_by_minus_one

kernel @div_u_by_no_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %r = div_u.i32 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_u.i32
; no rule: div_u_by_power

kernel @div_s_by_power(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 8
  %r = div_s.i32 %a, %k
  store %r, %o[%i]
  ret
}
; check: div_s.i32
