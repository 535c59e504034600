; test: lower
; Algebra of sums and products. Constants stand to the right.

; What is added to zero stays; what is subtracted from itself is zero.
kernel @zeros(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %add = add.i8x4 %a, %k
  %k2 = const.i8x4 0
  %sub = sub.i8x4 %a, %k2
  %k3 = const.i8x4 0
  %sub2 = sub.i8x4 %k3, %a
  %sub3 = sub.i8x4 %a, %a
  store %add, %out1[%i]
  store %sub, %out2[%i]
  store %sub2, %out3[%i]
  store %sub3, %out4[%i]
  ret
}
;= kernel @zeros(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i8x4 0
;=   %sub2 = neg.i8x4 %a
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %sub2, %out3[%i]
;=   store %k, %out4[%i]
;=   ret
;= }
; rule: add_zero, sub_zero, zero_sub, sub_self

kernel @constants(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %j = const.i32 77
  %x = add.i32 %a, %j
  %k = const.i32 99
  %add = add.i32 %x, %k
  %j2 = const.i32 7
  %x2 = mul.i32 %a, %j2
  %k2 = const.i32 9
  %mul = mul.i32 %x2, %k2
  store %add, %out1[%i]
  store %mul, %out2[%i]
  ret
}
;= kernel @constants(%a_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i32 176
;=   %add = add.i32 %a, %0
;=   %1 = const.i32 63
;=   %mul = mul.i32 %a, %1
;=   store %add, %out1[%i]
;=   store %mul, %out2[%i]
;=   ret
;= }
; rule: add_constants, mul_constants

kernel @negations(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4,
    %out4: out i8x4, %out5: out i8x4, %out6: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = neg.i8x4 %b
  %add = add.i8x4 %a, %n
  %n2 = neg.i8x4 %a
  %add2 = add.i8x4 %n2, %b
  %n3 = neg.i8x4 %b
  %sub = sub.i8x4 %a, %n3
  %n4 = neg.i8x4 %a
  %neg = neg.i8x4 %n4
  %d = sub.i8x4 %a, %b
  %neg2 = neg.i8x4 %d
  %m = neg.i8x4 %a
  %n5 = neg.i8x4 %b
  %mul = mul.i8x4 %m, %n5
  store %add, %out1[%i]
  store %add2, %out2[%i]
  store %sub, %out3[%i]
  store %neg, %out4[%i]
  store %neg2, %out5[%i]
  store %mul, %out6[%i]
  ret
}
;= kernel @negations(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4, %out5: out i8x4, %out6: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %add = sub.i8x4 %a, %b
;=   %add2 = sub.i8x4 %b, %a
;=   %sub = add.i8x4 %a, %b
;=   %mul = mul.i8x4 %a, %b
;=   store %add, %out1[%i]
;=   store %add2, %out2[%i]
;=   store %sub, %out3[%i]
;=   store %a, %out4[%i]
;=   store %add2, %out5[%i]
;=   store %mul, %out6[%i]
;=   ret
;= }
; rule: add_neg, neg_add, sub_neg, neg_neg, neg_sub, mul_negs

kernel @sums_of_differences(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4,
    %out4: out i8x4, %out5: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = sub.i8x4 %a, %b
  %add = add.i8x4 %d, %b
  %d2 = sub.i8x4 %a, %b
  %add2 = add.i8x4 %b, %d2
  %s = add.i8x4 %a, %b
  %sub = sub.i8x4 %s, %b
  %s2 = add.i8x4 %a, %b
  %sub2 = sub.i8x4 %s2, %a
  %d3 = sub.i8x4 %a, %b
  %sub3 = sub.i8x4 %a, %d3
  store %add, %out1[%i]
  store %add2, %out2[%i]
  store %sub, %out3[%i]
  store %sub2, %out4[%i]
  store %sub3, %out5[%i]
  ret
}
;= kernel @sums_of_differences(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4, %out5: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   store %b, %out4[%i]
;=   store %b, %out5[%i]
;=   ret
;= }
; rule: add_sub, add_sub_right, sub_add, sub_add_left, sub_sub

; A difference is undone only by what was subtracted.
kernel @other_differences(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = sub.i32 %a, %b
  %s = add.i32 %d, %c
  %t = add.i32 %s, %d
  %r = sub.i32 %t, %a
  store %r, %out[%i]
  ret
}
;= kernel @other_differences(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %d = sub.i32 %a, %b
;=   %s = add.i32 %d, %c
;=   %t = add.i32 %s, %d
;=   %r = sub.i32 %t, %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: add_sub, add_sub_right, sub_add, sub_add_left, sub_sub

kernel @products(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %mul = mul.i32 %a, %k
  %k2 = const.i32 1
  %mul2 = mul.i32 %a, %k2
  %k3 = const.i32 -1
  %mul3 = mul.i32 %a, %k3
  store %mul, %out1[%i]
  store %mul2, %out2[%i]
  store %mul3, %out3[%i]
  ret
}
;= kernel @products(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   %mul3 = neg.i32 %a
;=   store %k, %out1[%i]
;=   store %a, %out2[%i]
;=   store %mul3, %out3[%i]
;=   ret
;= }
; rule: mul_zero, mul_one, mul_minus_one

kernel @high_products(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %mul_hi_s = mul_hi_s.i32 %a, %k
  %k2 = const.i32 0
  %mul_hi_u = mul_hi_u.i32 %a, %k2
  %k3 = const.i32 1
  %mul_hi_u2 = mul_hi_u.i32 %a, %k3
  store %mul_hi_s, %out1[%i]
  store %mul_hi_u, %out2[%i]
  store %mul_hi_u2, %out3[%i]
  ret
}
;= kernel @high_products(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 0
;=   store %k, %out1[%i]
;=   store %k, %out2[%i]
;=   store %k, %out3[%i]
;=   ret
;= }
; rule: mul_hi_s_zero, mul_hi_u_zero, mul_hi_u_one

; The high half of a signed product with 1 is the sign.
kernel @signed_high_product_by_one(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 1
  %r = mul_hi_s.i32 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @signed_high_product_by_one(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 1
;=   %r = mul_hi_s.i32 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: mul_hi_u_one, mul_hi_s_zero

kernel @wide_products(%a_in: in i32, %out1: out i64, %out2: out i64, %out3: out i64, %out4: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 0
  %mul_wide_s = mul_wide_s.i32 %a, %k
  %k2 = const.i32 1
  %mul_wide_s2 = mul_wide_s.i32 %a, %k2
  %k3 = const.i32 0
  %mul_wide_u = mul_wide_u.i32 %a, %k3
  %k4 = const.i32 1
  %mul_wide_u2 = mul_wide_u.i32 %a, %k4
  store %mul_wide_s, %out1[%i]
  store %mul_wide_s2, %out2[%i]
  store %mul_wide_u, %out3[%i]
  store %mul_wide_u2, %out4[%i]
  ret
}
;= kernel @wide_products(%a_in: in i32, %out1: out i64, %out2: out i64, %out3: out i64, %out4: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %mul_wide_s = const.i64 0
;=   %mul_wide_s2 = sext.i64 %a
;=   %mul_wide_u2 = zext.i64 %a
;=   store %mul_wide_s, %out1[%i]
;=   store %mul_wide_s2, %out2[%i]
;=   store %mul_wide_s, %out3[%i]
;=   store %mul_wide_u2, %out4[%i]
;=   ret
;= }
; rule: mul_wide_s_zero, mul_wide_s_one, mul_wide_u_zero, mul_wide_u_one

; A product with 2 stays one: targets know what is cheaper.
kernel @products_by_two(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 2
  %r = mul.i32 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @products_by_two(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.i32 2
;=   %r = mul.i32 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: mul_one, mul_constants
