; test: isel vp1
; Sums and differences that do not saturate: one word each.
kernel @exact(%a_in: in i8x16, %b_in: in i8x16, %out0: out i8x16, %out1: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = const.i8x16 1
  %x = shr_s.i8x16 %a, %n
  %y = shr_s.i8x16 %b, %n
  %r = add.i8x16 %x, %y
  %s = sub.i8x16 %x, %y
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: bytes_add_in_range_s, bytes_sub_in_range_s
; no rule: bytes_add, bytes_sub

; Unsigned ones.
kernel @exact_unsigned(%a_in: in i8x16, %b_in: in i8x16, %out0: out i8x16, %out1: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = const.i8x16 1
  %x = shr_u.i8x16 %a, %n
  %y = shr_u.i8x16 %b, %n
  %r = add.i8x16 %x, %y
  %k = const.i8x16 200
  %s = sub.i8x16 %k, %x
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: bytes_add_in_range_u, bytes_sub_in_range_u
; no rule: bytes_add, bytes_sub

; Sums and differences that may saturate.
kernel @wrapping(%a_in: in i8x16, %b_in: in i8x16, %out0: out i8x16, %out1: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = const.i8x16 1
  %x = shr_s.i8x16 %a, %n
  %r = add.i8x16 %x, %b
  %s = sub.i8x16 %x, %b
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: bytes_add, bytes_sub
; no rule: bytes_add_in_range_s, bytes_add_in_range_u, bytes_sub_in_range_s, bytes_sub_in_range_u
