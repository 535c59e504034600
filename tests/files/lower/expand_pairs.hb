; test: lower without=and.i64,or.i64,xor.i64
; 64-bit integers in halves.
kernel @bits(%a_in: in i64, %b_in: in i64, %out1: out i64, %out2: out i64, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %and = and.i64 %a, %b
  %or = or.i64 %a, %b
  %xor = xor.i64 %a, %b
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  ret
}
;= kernel @bits(%a_in: in i64, %b_in: in i64, %out1: out i64, %out2: out i64, %out3: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = and.i32 %0, %1
;=   %3 = split.i32 %a, 1
;=   %4 = split.i32 %b, 1
;=   %5 = and.i32 %3, %4
;=   %and = concat.i64 %2, %5
;=   %6 = or.i32 %0, %1
;=   %7 = or.i32 %3, %4
;=   %or = concat.i64 %6, %7
;=   %8 = xor.i32 %0, %1
;=   %9 = xor.i32 %3, %4
;=   %xor = concat.i64 %8, %9
;=   store %and, %out1[%i]
;=   store %or, %out2[%i]
;=   store %xor, %out3[%i]
;=   ret
;= }
; rule: and_i64, or_i64, xor_i64

; test: lower without=add.i64
; The carry is what the low sum is less than.
kernel @sum(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %add = add.i64 %a, %b
  store %add, %out[%i]
  ret
}
;= kernel @sum(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = add.i32 %0, %1
;=   %3 = icmp.lt_u.i32 %2, %0
;=   %4 = mask_expand.i32 %3
;=   %5 = split.i32 %a, 1
;=   %6 = split.i32 %b, 1
;=   %7 = add.i32 %5, %6
;=   %8 = sub.i32 %7, %4
;=   %add = concat.i64 %2, %8
;=   store %add, %out[%i]
;=   ret
;= }
; rule: add_i64

; test: lower without=add.i64,sub.i64
kernel @difference(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %sub = sub.i64 %a, %b
  store %sub, %out[%i]
  ret
}
;= kernel @difference(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = icmp.lt_u.i32 %0, %1
;=   %3 = mask_expand.i32 %2
;=   %4 = sub.i32 %0, %1
;=   %5 = split.i32 %a, 1
;=   %6 = split.i32 %b, 1
;=   %7 = sub.i32 %5, %6
;=   %8 = add.i32 %7, %3
;=   %sub = concat.i64 %4, %8
;=   store %sub, %out[%i]
;=   ret
;= }
; rule: sub_i64

; test: lower without=mul.i64
kernel @product(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul = mul.i64 %a, %b
  store %mul, %out[%i]
  ret
}
;= kernel @product(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = mul_wide_u.i32 %0, %1
;=   %3 = split.i32 %b, 1
;=   %4 = mul.i32 %0, %3
;=   %5 = split.i32 %a, 1
;=   %6 = mul.i32 %5, %1
;=   %7 = add.i32 %4, %6
;=   %8 = split.i32 %2, 0
;=   %9 = split.i32 %2, 1
;=   %10 = add.i32 %9, %7
;=   %mul = concat.i64 %8, %10
;=   store %mul, %out[%i]
;=   ret
;= }
; rule: mul_i64

; test: lower without=shl.i64
; From 32 places on one half is the other shifted.
kernel @shift_left(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shl = shl.i64 %a, %b
  store %shl, %out[%i]
  ret
}
;= kernel @shift_left(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %b, 0
;=   %1 = const.i32 32
;=   %2 = and.i32 %0, %1
;=   %3 = const.i32 0
;=   %4 = icmp.ne.i32 %2, %3
;=   %5 = split.i32 %a, 0
;=   %6 = shl.i32 %5, %0
;=   %7 = const.i32 1
;=   %8 = shr_u.i32 %5, %7
;=   %9 = not.i32 %0
;=   %10 = shr_u.i32 %8, %9
;=   %11 = select.i32 %4, %3, %6
;=   %12 = split.i32 %a, 1
;=   %13 = shl.i32 %12, %0
;=   %14 = or.i32 %13, %10
;=   %15 = select.i32 %4, %6, %14
;=   %shl = concat.i64 %11, %15
;=   store %shl, %out[%i]
;=   ret
;= }
; rule: shl_i64

; test: lower without=shr_u.i64
kernel @shift_right_u(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shr_u = shr_u.i64 %a, %b
  store %shr_u, %out[%i]
  ret
}
;= kernel @shift_right_u(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %b, 0
;=   %1 = const.i32 32
;=   %2 = and.i32 %0, %1
;=   %3 = const.i32 0
;=   %4 = icmp.ne.i32 %2, %3
;=   %5 = split.i32 %a, 1
;=   %6 = shr_u.i32 %5, %0
;=   %7 = const.i32 1
;=   %8 = shl.i32 %5, %7
;=   %9 = not.i32 %0
;=   %10 = shl.i32 %8, %9
;=   %11 = split.i32 %a, 0
;=   %12 = shr_u.i32 %11, %0
;=   %13 = or.i32 %12, %10
;=   %14 = select.i32 %4, %6, %13
;=   %15 = select.i32 %4, %3, %6
;=   %shr_u = concat.i64 %14, %15
;=   store %shr_u, %out[%i]
;=   ret
;= }
; rule: shr_u_i64

; test: lower without=shr_s.i64
kernel @shift_right_s(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shr_s = shr_s.i64 %a, %b
  store %shr_s, %out[%i]
  ret
}
;= kernel @shift_right_s(%a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %b, 0
;=   %1 = const.i32 32
;=   %2 = and.i32 %0, %1
;=   %3 = const.i32 0
;=   %4 = icmp.ne.i32 %2, %3
;=   %5 = split.i32 %a, 1
;=   %6 = shr_s.i32 %5, %0
;=   %7 = const.i32 1
;=   %8 = shl.i32 %5, %7
;=   %9 = not.i32 %0
;=   %10 = shl.i32 %8, %9
;=   %11 = split.i32 %a, 0
;=   %12 = shr_u.i32 %11, %0
;=   %13 = or.i32 %12, %10
;=   %14 = select.i32 %4, %6, %13
;=   %15 = const.i32 31
;=   %16 = shr_s.i32 %5, %15
;=   %17 = select.i32 %4, %16, %6
;=   %shr_s = concat.i64 %14, %17
;=   store %shr_s, %out[%i]
;=   ret
;= }
; rule: shr_s_i64

; test: lower without=icmp.i64
kernel @equality(%a_in: in i64, %b_in: in i64, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %icmp = icmp.eq.i64 %a, %b
  %icmp_bits = mask_expand.i32 %icmp
  %icmp2 = icmp.ne.i64 %a, %b
  %icmp2_bits = mask_expand.i32 %icmp2
  store %icmp_bits, %out1[%i]
  store %icmp2_bits, %out2[%i]
  ret
}
;= kernel @equality(%a_in: in i64, %b_in: in i64, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = icmp.eq.i32 %0, %1
;=   %3 = split.i32 %a, 1
;=   %4 = split.i32 %b, 1
;=   %5 = icmp.eq.i32 %3, %4
;=   %icmp = and.i1 %2, %5
;=   %icmp_bits = mask_expand.i32 %icmp
;=   %6 = icmp.ne.i32 %0, %1
;=   %7 = icmp.ne.i32 %3, %4
;=   %icmp2 = or.i1 %6, %7
;=   %icmp2_bits = mask_expand.i32 %icmp2
;=   store %icmp_bits, %out1[%i]
;=   store %icmp2_bits, %out2[%i]
;=   ret
;= }
; rule: eq_i64, ne_i64

; The high halves decide unless they are equal.
kernel @order(%a_in: in i64, %b_in: in i64, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %icmp = icmp.lt_s.i64 %a, %b
  %icmp_bits = mask_expand.i32 %icmp
  store %icmp_bits, %out[%i]
  ret
}
;= kernel @order(%a_in: in i64, %b_in: in i64, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 1
;=   %1 = split.i32 %b, 1
;=   %2 = icmp.eq.i32 %0, %1
;=   %3 = split.i32 %a, 0
;=   %4 = split.i32 %b, 0
;=   %5 = icmp.lt_u.i32 %3, %4
;=   %6 = icmp.lt_s.i32 %0, %1
;=   %icmp = select.i1 %2, %5, %6
;=   %icmp_bits = mask_expand.i32 %icmp
;=   store %icmp_bits, %out[%i]
;=   ret
;= }
; rule: order_i64

; test: lower without=sext.i64,zext.i64
kernel @widened(%a_in: in i32, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %zext = zext.i64 %a
  %sext = sext.i64 %a
  store %zext, %out1[%i]
  store %sext, %out2[%i]
  ret
}
;= kernel @widened(%a_in: in i32, %out1: out i64, %out2: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i32 0
;=   %zext = concat.i64 %a, %0
;=   %1 = const.i32 31
;=   %2 = shr_s.i32 %a, %1
;=   %sext = concat.i64 %a, %2
;=   store %zext, %out1[%i]
;=   store %sext, %out2[%i]
;=   ret
;= }
; rule: zext_i64, sext_i64

kernel @widened_from_bytes(%a_in: in i8, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %zext = zext.i64 %a
  %sext = sext.i64 %a
  store %zext, %out1[%i]
  store %sext, %out2[%i]
  ret
}
;= kernel @widened_from_bytes(%a_in: in i8, %out1: out i64, %out2: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = zext.i32 %a
;=   %1 = const.i32 0
;=   %zext = concat.i64 %0, %1
;=   %2 = sext.i32 %a
;=   %3 = const.i32 31
;=   %4 = shr_s.i32 %2, %3
;=   %sext = concat.i64 %2, %4
;=   store %zext, %out1[%i]
;=   store %sext, %out2[%i]
;=   ret
;= }
; rule: zext_i64_by_i32, sext_i64_by_i32

; test: lower without=trunc.i16
kernel @narrowed(%a_in: in i64, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %trunc = trunc.i16 %a
  store %trunc, %out[%i]
  ret
}
;= kernel @narrowed(%a_in: in i64, %out: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %trunc = split.i16 %a, 0
;=   store %trunc, %out[%i]
;=   ret
;= }
; rule: trunc_i64
