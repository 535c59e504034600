; test: isel ptx
; Masks of lanes that logic joins: the signs of the lanes are joined, and one PRMT expands the result.
kernel @both(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i8x4 %a, %b
  %y = icmp.lt_u.i8x4 %a, %b
  %z = and.i1x4 %x, %y    ; check: prmt.b32
                            ; not: prmt.b32
  %r = mask_expand.i8x4 %z
  store %r, %out[%i]
  ret
}
; rule: joined_and, signs_compared

kernel @one_of_two(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i8x4 %a, %b
  %y = icmp.lt_u.i8x4 %a, %b
  %z = xor.i1x4 %x, %y    ; check: prmt.b32
                            ; not: prmt.b32
  %r = mask_expand.i8x4 %z
  store %r, %out[%i]
  ret
}
; rule: joined_xor

kernel @nested(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = icmp.lt_s.i8x4 %a, %b
  %y = icmp.lt_u.i8x4 %a, %b
  %z = or.i1x4 %x, %y
  %p = icmp.eq.i8x4 %b, %c
  %q = xor.i1x4 %p, %z    ; check: lop3.b32
                            ; check: prmt.b32
                            ; not: prmt.b32
  %r = mask_expand.i8x4 %q
  store %r, %out[%i]
  ret
}
; rule: signs_or, joined_xor

kernel @inverted(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = icmp.lt_s.i8x4 %a, %b
  %y = icmp.lt_u.i8x4 %a, %b
  %z = xor.i1x4 %x, %y
  %n = not.i1x4 %z
  %p = icmp.eq.i8x4 %b, %c
  %q = and.i1x4 %p, %n
  %r = mask_expand.i8x4 %q
  store %r, %out[%i]
  ret
}
; rule: signs_not, signs_xor, joined_and

kernel @with_a_truth(%a_in: in i8x4, %b_in: in i8x4, %x: i32, %y: i32, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_s.i32 %x, %y
  %m = splat.i1x4 %c
  %p = icmp.lt_s.i8x4 %a, %b
  %z = and.i1x4 %p, %m
  %q = icmp.lt_u.i8x4 %a, %b
  %v = or.i1x4 %z, %q
  %r = mask_expand.i8x4 %v
  store %r, %out[%i]
  ret
}
; rule: signs_plain

; Masks of half lanes have no signs to join.
kernel @halves(%a_in: in f16x2, %b_in: in f16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcmp.lt.f16x2 %a, %b
  %y = fcmp.gt.f16x2 %a, %b
  %z = or.i1x2 %x, %y
  %r = mask_expand.i16x2 %z
  store %r, %out[%i]
  ret
}
; no rule: joined_or

; Comparisons with zero need no difference.
kernel @signs(%a_in: in i8x4, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %m = icmp.ge_s.i8x4 %a, %k    ; check: not.b32
  %r = mask_expand.i8x4 %m
  %n = icmp.le_s.i8x4 %a, %k
  %s = mask_expand.i8x4 %n
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: lanes_not_negative, lanes_not_positive

kernel @bounds(%a_in: in i8x4, %out0: out i8x4, %out1: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 5
  %m = icmp.ge_s.i8x4 %a, %k
  %r = mask_expand.i8x4 %m
  %n = icmp.le_s.i8x4 %a, %k
  %s = mask_expand.i8x4 %n
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; no rule: lanes_not_negative, lanes_not_positive
