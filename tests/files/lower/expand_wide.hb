; test: lower without=mul_hi_u.i64
; Upper halves of products of 128 bits, and bfloat16 of integers.
kernel @high_product_of_pairs(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = mul_hi_u.i64 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @high_product_of_pairs(%x: in i64, %y: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 1
;=   %2 = mul_wide_u.i32 %0, %1
;=   %3 = split.i32 %b, 0
;=   %4 = mul_wide_u.i32 %0, %3
;=   %5 = split.i32 %4, 1
;=   %6 = zext.i64 %5
;=   %7 = add.i64 %2, %6
;=   %8 = split.i32 %a, 1
;=   %9 = mul_wide_u.i32 %8, %3
;=   %10 = split.i32 %7, 0
;=   %11 = zext.i64 %10
;=   %12 = add.i64 %9, %11
;=   %13 = split.i32 %7, 1
;=   %14 = zext.i64 %13
;=   %15 = split.i32 %12, 1
;=   %16 = zext.i64 %15
;=   %17 = add.i64 %14, %16
;=   %18 = mul_wide_u.i32 %8, %1
;=   %r = add.i64 %18, %17
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=fcvt_from_s.bf16,fcvt_from_u.bf16
kernel @signed_to_bf16(%x: in i32, %o: out bf16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt_from_s.bf16 %a
  store %r, %o[%i]
  ret
}
;= kernel @signed_to_bf16(%x: in i32, %o: out bf16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 16777216
;=   %1 = add.i32 %a, %0
;=   %2 = const.i32 33554432
;=   %3 = icmp.lt_u.i32 %1, %2
;=   %4 = const.i32 -256
;=   %5 = and.i32 %a, %4
;=   %6 = const.i32 255
;=   %7 = and.i32 %a, %6
;=   %8 = add.i32 %7, %6
;=   %9 = const.i32 256
;=   %10 = and.i32 %8, %9
;=   %11 = or.i32 %5, %10
;=   %12 = select.i32 %3, %a, %11
;=   %13 = fcvt_from_s.f32 %12
;=   %r = fcvt.bf16 %13
;=   store %r, %o[%i]
;=   ret
;= }

kernel @unsigned_to_bf16(%x: in i32, %o: out bf16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt_from_u.rp.bf16 %a
  store %r, %o[%i]
  ret
}
;= kernel @unsigned_to_bf16(%x: in i32, %o: out bf16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 16777216
;=   %1 = icmp.lt_u.i32 %a, %0
;=   %2 = const.i32 -256
;=   %3 = and.i32 %a, %2
;=   %4 = const.i32 255
;=   %5 = and.i32 %a, %4
;=   %6 = add.i32 %5, %4
;=   %7 = const.i32 256
;=   %8 = and.i32 %6, %7
;=   %9 = or.i32 %3, %8
;=   %10 = select.i32 %1, %a, %9
;=   %11 = fcvt_from_u.f32 %10
;=   %r = fcvt.rp.bf16 %11
;=   store %r, %o[%i]
;=   ret
;= }
