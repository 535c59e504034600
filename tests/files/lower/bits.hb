; test: lower
; Algebra of bits and shifts.
kernel @shifts_by_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %shl = shl.i32 %a, %k
  %k2 = const.i32 0
  %shr_s = shr_s.i32 %a, %k2
  %k3 = const.i32 0
  %shr_u = shr_u.i32 %a, %k3
  %k4 = const.i32 0
  %round_shr_s = round_shr_s.i32 %a, %k4
  %k5 = const.i32 0
  %round_shr_u = round_shr_u.i32 %a, %k5
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  store %round_shr_s, %out4[%i]
  store %round_shr_u, %out5[%i]
  ret
}
;= kernel @shifts_by_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %a, %out4[%i]
;=   store %a, %out5[%i]
;=   ret
;= }
; rule: shl_zero, shr_s_zero, shr_u_zero, round_shr_s_zero, round_shr_u_zero

kernel @shifts_of_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %shl = shl.i32 %k, %a
  %k2 = const.i32 0
  %shr_s = shr_s.i32 %k2, %a
  %k3 = const.i32 0
  %shr_u = shr_u.i32 %k3, %a
  %k4 = const.i32 -1
  %shr_s2 = shr_s.i32 %k4, %a
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  store %shr_s2, %out4[%i]
  ret
}
;= kernel @shifts_of_zero(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   %k4 = const.i32 -1
;=   store %k, %out1[%i]
;=   store %k, %out2[%i]
;=   store %k, %out3[%i]
;=   store %k4, %out4[%i]
;=   ret
;= }
; rule: zero_shl, zero_shr_s, zero_shr_u, ones_shr_s

; Only the arithmetic shift keeps ones.
kernel @shift_of_ones(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 -1
  %r = shr_u.i32 %k, %a
  store %r, %out[%i]
  ret
}
;= kernel @shift_of_ones(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 -1
;=   %r = shr_u.i32 %k, %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: ones_shr_s, zero_shr_u

; Counts are modulo the width; the rule looks for the constant 0 alone.
kernel @shift_by_the_width(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 32
  %r = shl.i32 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @shift_by_the_width(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 32
;=   %r = shl.i32 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: shl_zero

kernel @and(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32, %out6: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %and = and.i32 %a, %a
  %k = const.i32 0
  %and2 = and.i32 %a, %k
  %z = const.i32 0
  %k2 = not.i32 %z
  %and3 = and.i32 %a, %k2
  %j = const.i32 0x3c
  %x = and.i32 %a, %j
  %k3 = const.i32 0x55
  %and4 = and.i32 %x, %k3
  %o = or.i32 %a, %b
  %and5 = and.i32 %o, %a
  %x2 = and.i32 %a, %b
  %and6 = and.i32 %x2, %b
  store %and, %out1[%i]
  store %and2, %out2[%i]
  store %and3, %out3[%i]
  store %and4, %out4[%i]
  store %and5, %out5[%i]
  store %and6, %out6[%i]
  ret
}
;= kernel @and(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32, %out6: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %k = const.i32 0
;=   %0 = const.i32 20
;=   %and4 = and.i32 %a, %0
;=   %x2 = and.i32 %a, %b
;=   store %a, %out1[%i]
;=   store %k, %out2[%i]
;=   store %a, %out3[%i]
;=   store %and4, %out4[%i]
;=   store %a, %out5[%i]
;=   store %x2, %out6[%i]
;=   ret
;= }
; rule: and_self, and_zero, and_ones, and_constants, and_or, and_again

kernel @or(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32, %out6: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %or = or.i32 %a, %a
  %k = const.i32 0
  %or2 = or.i32 %a, %k
  %z = const.i32 0
  %k2 = not.i32 %z
  %or3 = or.i32 %a, %k2
  %j = const.i32 0x3c
  %x = or.i32 %a, %j
  %k3 = const.i32 0x55
  %or4 = or.i32 %x, %k3
  %o = and.i32 %a, %b
  %or5 = or.i32 %o, %a
  %x2 = or.i32 %a, %b
  %or6 = or.i32 %x2, %b
  store %or, %out1[%i]
  store %or2, %out2[%i]
  store %or3, %out3[%i]
  store %or4, %out4[%i]
  store %or5, %out5[%i]
  store %or6, %out6[%i]
  ret
}
;= kernel @or(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32, %out6: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %k2 = const.i32 -1
;=   %0 = const.i32 125
;=   %or4 = or.i32 %a, %0
;=   %x2 = or.i32 %a, %b
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %k2, %out3[%i]
;=   store %or4, %out4[%i]
;=   store %a, %out5[%i]
;=   store %x2, %out6[%i]
;=   ret
;= }
; rule: or_self, or_zero, or_ones, or_constants, or_and, or_again

kernel @xor(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32, %out6: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %xor = xor.i32 %a, %a
  %k = const.i32 0
  %xor2 = xor.i32 %a, %k
  %z = const.i32 0
  %k2 = not.i32 %z
  %xor3 = xor.i32 %a, %k2
  %j = const.i32 0x3c
  %x = xor.i32 %a, %j
  %k3 = const.i32 0x55
  %xor4 = xor.i32 %x, %k3
  %x2 = xor.i32 %a, %b
  %xor5 = xor.i32 %x2, %b
  %x3 = xor.i32 %a, %b
  %xor6 = xor.i32 %x3, %a
  store %xor, %out1[%i]
  store %xor2, %out2[%i]
  store %xor3, %out3[%i]
  store %xor4, %out4[%i]
  store %xor5, %out5[%i]
  store %xor6, %out6[%i]
  ret
}
;= kernel @xor(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32, %out6: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %xor = const.i32 0
;=   %xor3 = not.i32 %a
;=   %0 = const.i32 105
;=   %xor4 = xor.i32 %a, %0
;=   store %xor, %out1[%i]
;=   store %a, %out2[%i]
;=   store %xor3, %out3[%i]
;=   store %xor4, %out4[%i]
;=   store %a, %out5[%i]
;=   store %b, %out6[%i]
;=   ret
;= }
; rule: xor_self, xor_zero, xor_ones, xor_constants, xor_again, xor_again_left

kernel @complements(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32,
    %out5: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i32 %a, %b
  %n = not.i32 %x
  %and = and.i32 %x, %n
  %x2 = xor.i32 %a, %b
  %n2 = not.i32 %x2
  %and2 = and.i32 %n2, %x2
  %x3 = xor.i32 %a, %b
  %n3 = not.i32 %x3
  %or = or.i32 %x3, %n3
  %x4 = xor.i32 %a, %b
  %n4 = not.i32 %x4
  %or2 = or.i32 %n4, %x4
  %x5 = xor.i32 %a, %b
  %n5 = not.i32 %x5
  %not = not.i32 %n5
  store %and, %out1[%i]
  store %and2, %out2[%i]
  store %or, %out3[%i]
  store %or2, %out4[%i]
  store %not, %out5[%i]
  ret
}
;= kernel @complements(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32, %out5: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %x = xor.i32 %a, %b
;=   %and = const.i32 0
;=   %or = const.i32 -1
;=   store %and, %out1[%i]
;=   store %and, %out2[%i]
;=   store %or, %out3[%i]
;=   store %or, %out4[%i]
;=   store %x, %out5[%i]
;=   ret
;= }
; rule: and_not, not_and, or_not, not_or, not_not

kernel @inverted_comparisons(%a_in: in i32, %b_in: in i32, %a2_in: in f16x2, %b2_in: in f16x2, %out1: out i32,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %c = icmp.lt_s.i32 %a, %b
  %not = not.i1 %c
  %not_bits = mask_expand.i32 %not
  %c2 = fcmp.lt.f16x2 %a2, %b2
  %not2 = not.i1x2 %c2
  %not2_bits = mask_expand.i16x2 %not2
  store %not_bits, %out1[%i]
  store %not2_bits, %out2[%i]
  ret
}
;= kernel @inverted_comparisons(%a_in: in i32, %b_in: in i32, %a2_in: in f16x2, %b2_in: in f16x2, %out1: out i32, %out2: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %b2 = load %b2_in[%i]
;=   %not = icmp.ge_s.i32 %a, %b
;=   %not_bits = mask_expand.i32 %not
;=   %not2 = fcmp.geu.f16x2 %a2, %b2
;=   %not2_bits = mask_expand.i16x2 %not2
;=   store %not_bits, %out1[%i]
;=   store %not2_bits, %out2[%i]
;=   ret
;= }
; rule: not_icmp, not_fcmp

; Used both ways, a comparison is computed as each.
kernel @inverted_with_two_uses(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_s.i32 %a, %b
  %n = not.i1 %c
  %x = select.i32 %c, %a, %b
  %y = select.i32 %n, %x, %a
  %r = add.i32 %x, %y
  store %r, %out[%i]
  ret
}
;= kernel @inverted_with_two_uses(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %n = icmp.ge_s.i32 %a, %b
;=   %x = min_s.i32 %a, %b
;=   %y = select.i32 %n, %x, %a
;=   %r = add.i32 %x, %y
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: not_not

; Only what is joined with itself is absorbed.
kernel @joined_by_another(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = or.i32 %a, %b
  %y = and.i32 %x, %c
  %z = xor.i32 %y, %b
  %r = or.i32 %z, %c
  store %r, %out[%i]
  ret
}
;= kernel @joined_by_another(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %x = or.i32 %a, %b
;=   %y = and.i32 %x, %c
;=   %z = xor.i32 %y, %b
;=   %r = or.i32 %z, %c
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: and_or, or_and, xor_again, or_again
