; test: lower without=mul.i16x2
; Products, and what is narrowed.
kernel @products_of_lanes(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul = mul.i16x2 %a, %b
  store %mul, %out[%i]
  ret
}
;= kernel @products_of_lanes(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = extract.i16x2 %b, 0
;=   %2 = mul.i16 %0, %1
;=   %3 = extract.i16x2 %a, 1
;=   %4 = extract.i16x2 %b, 1
;=   %5 = mul.i16 %3, %4
;=   %mul = concat.i16x2 %2, %5
;=   store %mul, %out[%i]
;=   ret
;= }
; rule: mul_of_two

; test: lower without=concat.i8x16,mul.i8x4
kernel @products_of_bytes(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul = mul.i8x4 %a, %b
  store %mul, %out[%i]
  ret
}
;= kernel @products_of_bytes(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = extract.i8x4 %b, 0
;=   %2 = mul.i8 %0, %1
;=   %3 = extract.i8x4 %a, 1
;=   %4 = extract.i8x4 %b, 1
;=   %5 = mul.i8 %3, %4
;=   %6 = extract.i8x4 %a, 2
;=   %7 = extract.i8x4 %b, 2
;=   %8 = mul.i8 %6, %7
;=   %9 = extract.i8x4 %a, 3
;=   %10 = extract.i8x4 %b, 3
;=   %11 = mul.i8 %9, %10
;=   %mul = concat.i8x4 %2, %5, %8, %11
;=   store %mul, %out[%i]
;=   ret
;= }
; rule: mul_of_four

; test: lower without=mul.i8x4,mul_hi_s.i8x4,mul_hi_u.i8x4
kernel @products_as_vectors(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul = mul.i8x4 %a, %b
  %mul_hi_s = mul_hi_s.i8x4 %a, %b
  %mul_hi_u = mul_hi_u.i8x4 %a, %b
  store %mul, %out1[%i]
  store %mul_hi_s, %out2[%i]
  store %mul_hi_u, %out3[%i]
  ret
}
;= kernel @products_as_vectors(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = concat.i8x16 %a, %a, %a, %a
;=   %1 = concat.i8x16 %b, %b, %b, %b
;=   %2 = mul.i8x16 %0, %1
;=   %mul = split.i8x4 %2, 0
;=   %3 = mul_hi_s.i8x16 %0, %1
;=   %mul_hi_s = split.i8x4 %3, 0
;=   %4 = mul_hi_u.i8x16 %0, %1
;=   %mul_hi_u = split.i8x4 %4, 0
;=   store %mul, %out1[%i]
;=   store %mul_hi_s, %out2[%i]
;=   store %mul_hi_u, %out3[%i]
;=   ret
;= }
; rule: mul_as_vector, mul_hi_s_as_vector, mul_hi_u_as_vector

; test: lower without=mul_wide_s.i16,mul_wide_u.i16
kernel @wide_products_by_widening(%a_in: in i16, %b_in: in i16, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul_wide_s = mul_wide_s.i16 %a, %b
  %mul_wide_u = mul_wide_u.i16 %a, %b
  store %mul_wide_s, %out1[%i]
  store %mul_wide_u, %out2[%i]
  ret
}
;= kernel @wide_products_by_widening(%a_in: in i16, %b_in: in i16, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = sext.i32 %a
;=   %1 = sext.i32 %b
;=   %mul_wide_s = mul.i32 %0, %1
;=   %2 = zext.i32 %a
;=   %3 = zext.i32 %b
;=   %mul_wide_u = mul.i32 %2, %3
;=   store %mul_wide_s, %out1[%i]
;=   store %mul_wide_u, %out2[%i]
;=   ret
;= }
; rule: mul_wide_s_by_mul, mul_wide_u_by_mul

; test: lower without=mul.i64,mul_wide_s.i32,mul_wide_u.i32
; Without a wide product the halves come one by one.
kernel @wide_products_by_halves(%a_in: in i32, %b_in: in i32, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul_wide_s = mul_wide_s.i32 %a, %b
  %mul_wide_u = mul_wide_u.i32 %a, %b
  store %mul_wide_s, %out1[%i]
  store %mul_wide_u, %out2[%i]
  ret
}
;= kernel @wide_products_by_halves(%a_in: in i32, %b_in: in i32, %out1: out i64, %out2: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = mul.i32 %a, %b
;=   %1 = mul_hi_s.i32 %a, %b
;=   %mul_wide_s = concat.i64 %0, %1
;=   %2 = mul_hi_u.i32 %a, %b
;=   %mul_wide_u = concat.i64 %0, %2
;=   store %mul_wide_s, %out1[%i]
;=   store %mul_wide_u, %out2[%i]
;=   ret
;= }
; rule: mul_wide_s_by_halves, mul_wide_u_by_halves

; test: lower without=mul_hi_s.i32,mul_hi_u.i32
kernel @high_products_by_wide_ones(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul_hi_s = mul_hi_s.i32 %a, %b
  %mul_hi_u = mul_hi_u.i32 %a, %b
  store %mul_hi_s, %out1[%i]
  store %mul_hi_u, %out2[%i]
  ret
}
;= kernel @high_products_by_wide_ones(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = mul_wide_s.i32 %a, %b
;=   %mul_hi_s = split.i32 %0, 1
;=   %1 = mul_wide_u.i32 %a, %b
;=   %mul_hi_u = split.i32 %1, 1
;=   store %mul_hi_s, %out1[%i]
;=   store %mul_hi_u, %out2[%i]
;=   ret
;= }
; rule: mul_hi_s_by_wide, mul_hi_u_by_wide

; test: lower without=mul_hi_s.i32,split.i32
; A negative operand counts 2^32 too much.
kernel @signed_high_product_by_unsigned(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul_hi_s = mul_hi_s.i32 %a, %b
  store %mul_hi_s, %out[%i]
  ret
}
;= kernel @signed_high_product_by_unsigned(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i32 31
;=   %1 = shr_s.i32 %a, %0
;=   %2 = and.i32 %1, %b
;=   %3 = shr_s.i32 %b, %0
;=   %4 = and.i32 %3, %a
;=   %5 = mul_hi_u.i32 %a, %b
;=   %6 = sub.i32 %5, %2
;=   %mul_hi_s = sub.i32 %6, %4
;=   store %mul_hi_s, %out[%i]
;=   ret
;= }
; rule: mul_hi_s_by_mul_hi_u

; test: lower without=mul_hi_u.i32,split.i32
; Four products of halves, and what is carried.
kernel @high_product_by_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul_hi_u = mul_hi_u.i32 %a, %b
  store %mul_hi_u, %out[%i]
  ret
}
;= kernel @high_product_by_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.i32 65535
;=   %1 = and.i32 %a, %0
;=   %2 = and.i32 %b, %0
;=   %3 = const.i32 16
;=   %4 = shr_u.i32 %a, %3
;=   %5 = shr_u.i32 %b, %3
;=   %6 = mul.i32 %1, %2
;=   %7 = shr_u.i32 %6, %3
;=   %8 = mul.i32 %4, %2
;=   %9 = add.i32 %8, %7
;=   %10 = mul.i32 %1, %5
;=   %11 = and.i32 %9, %0
;=   %12 = add.i32 %10, %11
;=   %13 = mul.i32 %4, %5
;=   %14 = shr_u.i32 %9, %3
;=   %15 = add.i32 %13, %14
;=   %16 = shr_u.i32 %12, %3
;=   %mul_hi_u = add.i32 %15, %16
;=   store %mul_hi_u, %out[%i]
;=   ret
;= }
; rule: mul_hi_u_of_halves

; test: lower without=narrow_sat_s.i8,narrow_sat_u.i8,narrow_sat_uu.i8
; A clamp, after which nothing is lost.
kernel @narrowed(%a_in: in i16, %out1: out i8, %out2: out i8, %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %narrow_sat_s = narrow_sat_s.i8 %a
  %narrow_sat_u = narrow_sat_u.i8 %a
  %narrow_sat_uu = narrow_sat_uu.i8 %a
  store %narrow_sat_s, %out1[%i]
  store %narrow_sat_u, %out2[%i]
  store %narrow_sat_uu, %out3[%i]
  ret
}
;= kernel @narrowed(%a_in: in i16, %out1: out i8, %out2: out i8, %out3: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i16 127
;=   %1 = min_s.i16 %a, %0
;=   %2 = const.i16 -128
;=   %3 = max_s.i16 %1, %2
;=   %narrow_sat_s = trunc.i8 %3
;=   %4 = const.i16 255
;=   %5 = min_s.i16 %a, %4
;=   %6 = const.i16 0
;=   %7 = max_s.i16 %5, %6
;=   %narrow_sat_u = trunc.i8 %7
;=   %8 = min_u.i16 %a, %4
;=   %narrow_sat_uu = trunc.i8 %8
;=   store %narrow_sat_s, %out1[%i]
;=   store %narrow_sat_u, %out2[%i]
;=   store %narrow_sat_uu, %out3[%i]
;=   ret
;= }
; rule: narrow_sat_s_by_clamp, narrow_sat_u_by_clamp, narrow_sat_uu_by_min
