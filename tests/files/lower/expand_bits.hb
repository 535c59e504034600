; test: lower without=rotl,rotr
; Rotations by shifts.
kernel @rotl_left(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 3
  %r = rotl.i32 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @rotl_left(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 3
;=   %0 = shl.i32 %a, %k
;=   %1 = const.i32 29
;=   %2 = shr_u.i32 %a, %1
;=   %r = or.i32 %0, %2
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotr_right(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i16 3
  %r = rotr.i16 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @rotr_right(%x: in i16, %o: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i16 3
;=   %0 = shr_u.i16 %a, %k
;=   %1 = neg.i16 %k
;=   %2 = shl.i16 %a, %1
;=   %r = or.i16 %0, %2
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotl_left_by_lanes(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotl.i32 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @rotl_left_by_lanes(%x: in i32, %y: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = shl.i32 %a, %b
;=   %1 = neg.i32 %b
;=   %2 = shr_u.i32 %a, %1
;=   %r = or.i32 %0, %2
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotr_right_by_lanes(%x: in i8, %y: in i8, %o: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotr.i8 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @rotr_right_by_lanes(%x: in i8, %y: in i8, %o: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = shr_u.i8 %a, %b
;=   %1 = neg.i8 %b
;=   %2 = shl.i8 %a, %1
;=   %r = or.i8 %0, %2
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotl_left_of_a_pair(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotl.i64 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @rotl_left_of_a_pair(%x: in i64, %y: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = shl.i64 %a, %b
;=   %1 = neg.i64 %b
;=   %2 = shr_u.i64 %a, %1
;=   %r = or.i64 %0, %2
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=rotr
kernel @rotr_right_by_left(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotr.i32 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @rotr_right_by_left(%x: in i32, %y: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = neg.i32 %b
;=   %r = rotl.i32 %a, %0
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=popcount,shr_u.i64
; Counts of bits.
kernel @popcount_of_bytes(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i8x4 %a
  store %r, %o[%i]
  ret
}
;= kernel @popcount_of_bytes(%x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i8x4 1
;=   %1 = shr_u.i8x4 %a, %0
;=   %2 = const.i8x4 85
;=   %3 = and.i8x4 %1, %2
;=   %4 = sub.i8x4 %a, %3
;=   %5 = const.i8x4 51
;=   %6 = and.i8x4 %4, %5
;=   %7 = const.i8x4 2
;=   %8 = shr_u.i8x4 %4, %7
;=   %9 = and.i8x4 %8, %5
;=   %10 = add.i8x4 %6, %9
;=   %11 = const.i8x4 4
;=   %12 = shr_u.i8x4 %10, %11
;=   %13 = add.i8x4 %10, %12
;=   %14 = const.i8x4 15
;=   %r = and.i8x4 %13, %14
;=   store %r, %o[%i]
;=   ret
;= }

kernel @popcount_of_halves(%x: in i16x2, %o: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i16x2 %a
  store %r, %o[%i]
  ret
}
;= kernel @popcount_of_halves(%x: in i16x2, %o: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i16x2 1
;=   %1 = shr_u.i16x2 %a, %0
;=   %2 = const.i16x2 21845
;=   %3 = and.i16x2 %1, %2
;=   %4 = sub.i16x2 %a, %3
;=   %5 = const.i16x2 13107
;=   %6 = and.i16x2 %4, %5
;=   %7 = const.i16x2 2
;=   %8 = shr_u.i16x2 %4, %7
;=   %9 = and.i16x2 %8, %5
;=   %10 = add.i16x2 %6, %9
;=   %11 = const.i16x2 4
;=   %12 = shr_u.i16x2 %10, %11
;=   %13 = add.i16x2 %10, %12
;=   %14 = const.i16x2 3855
;=   %15 = and.i16x2 %13, %14
;=   %16 = const.i16x2 8
;=   %17 = shr_u.i16x2 %15, %16
;=   %18 = add.i16x2 %15, %17
;=   %19 = const.i16x2 31
;=   %r = and.i16x2 %18, %19
;=   store %r, %o[%i]
;=   ret
;= }

kernel @popcount_of_a_word(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @popcount_of_a_word(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 1
;=   %1 = shr_u.i32 %a, %0
;=   %2 = const.i32 1431655765
;=   %3 = and.i32 %1, %2
;=   %4 = sub.i32 %a, %3
;=   %5 = const.i32 858993459
;=   %6 = and.i32 %4, %5
;=   %7 = const.i32 2
;=   %8 = shr_u.i32 %4, %7
;=   %9 = and.i32 %8, %5
;=   %10 = add.i32 %6, %9
;=   %11 = const.i32 4
;=   %12 = shr_u.i32 %10, %11
;=   %13 = add.i32 %10, %12
;=   %14 = const.i32 252645135
;=   %15 = and.i32 %13, %14
;=   %16 = const.i32 16843009
;=   %17 = mul.i32 %15, %16
;=   %18 = const.i32 24
;=   %r = shr_u.i32 %17, %18
;=   store %r, %o[%i]
;=   ret
;= }

kernel @popcount_of_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @popcount_of_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = const.i32 1
;=   %2 = shr_u.i32 %0, %1
;=   %3 = const.i32 1431655765
;=   %4 = and.i32 %2, %3
;=   %5 = sub.i32 %0, %4
;=   %6 = const.i32 858993459
;=   %7 = and.i32 %5, %6
;=   %8 = const.i32 2
;=   %9 = shr_u.i32 %5, %8
;=   %10 = and.i32 %9, %6
;=   %11 = add.i32 %7, %10
;=   %12 = const.i32 4
;=   %13 = shr_u.i32 %11, %12
;=   %14 = add.i32 %11, %13
;=   %15 = const.i32 252645135
;=   %16 = and.i32 %14, %15
;=   %17 = const.i32 16843009
;=   %18 = mul.i32 %16, %17
;=   %19 = const.i32 24
;=   %20 = shr_u.i32 %18, %19
;=   %21 = split.i32 %a, 1
;=   %22 = shr_u.i32 %21, %1
;=   %23 = and.i32 %22, %3
;=   %24 = sub.i32 %21, %23
;=   %25 = and.i32 %24, %6
;=   %26 = shr_u.i32 %24, %8
;=   %27 = and.i32 %26, %6
;=   %28 = add.i32 %25, %27
;=   %29 = shr_u.i32 %28, %12
;=   %30 = add.i32 %28, %29
;=   %31 = and.i32 %30, %15
;=   %32 = mul.i32 %31, %17
;=   %33 = shr_u.i32 %32, %19
;=   %34 = add.i32 %20, %33
;=   %35 = const.i32 0
;=   %r = concat.i64 %34, %35
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=popcount.i16
kernel @popcount_in_a_word(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = popcount.i16 %a
  store %r, %o[%i]
  ret
}
;= kernel @popcount_in_a_word(%x: in i16, %o: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = zext.i32 %a
;=   %1 = popcount.i32 %0
;=   %r = trunc.i16 %1
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=clz.i8x4,clz.i16x2,clz.i32,ctz.i32,bit_reverse
; Zeros above the highest bit.
kernel @clz_above_in_bytes(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i8x4 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_in_bytes(%x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i8x4 1
;=   %1 = shr_u.i8x4 %a, %0
;=   %2 = or.i8x4 %a, %1
;=   %3 = const.i8x4 2
;=   %4 = shr_u.i8x4 %2, %3
;=   %5 = or.i8x4 %2, %4
;=   %6 = const.i8x4 4
;=   %7 = shr_u.i8x4 %5, %6
;=   %8 = or.i8x4 %5, %7
;=   %9 = not.i8x4 %8
;=   %r = popcount.i8x4 %9
;=   store %r, %o[%i]
;=   ret
;= }

kernel @clz_above_in_halves(%x: in i16x2, %o: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i16x2 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_in_halves(%x: in i16x2, %o: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i16x2 1
;=   %1 = shr_u.i16x2 %a, %0
;=   %2 = or.i16x2 %a, %1
;=   %3 = const.i16x2 2
;=   %4 = shr_u.i16x2 %2, %3
;=   %5 = or.i16x2 %2, %4
;=   %6 = const.i16x2 4
;=   %7 = shr_u.i16x2 %5, %6
;=   %8 = or.i16x2 %5, %7
;=   %9 = const.i16x2 8
;=   %10 = shr_u.i16x2 %8, %9
;=   %11 = or.i16x2 %8, %10
;=   %12 = not.i16x2 %11
;=   %r = popcount.i16x2 %12
;=   store %r, %o[%i]
;=   ret
;= }

kernel @clz_above_in_a_word(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_in_a_word(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 1
;=   %1 = shr_u.i32 %a, %0
;=   %2 = or.i32 %a, %1
;=   %3 = const.i32 2
;=   %4 = shr_u.i32 %2, %3
;=   %5 = or.i32 %2, %4
;=   %6 = const.i32 4
;=   %7 = shr_u.i32 %5, %6
;=   %8 = or.i32 %5, %7
;=   %9 = const.i32 8
;=   %10 = shr_u.i32 %8, %9
;=   %11 = or.i32 %8, %10
;=   %12 = const.i32 16
;=   %13 = shr_u.i32 %11, %12
;=   %14 = or.i32 %11, %13
;=   %15 = not.i32 %14
;=   %r = popcount.i32 %15
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=clz.i16,clz.i64,ctz,popcount.i16
kernel @clz_above_in_a_half(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i16 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_in_a_half(%x: in i16, %o: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = zext.i32 %a
;=   %1 = clz.i32 %0
;=   %2 = const.i32 16
;=   %3 = sub.i32 %1, %2
;=   %r = trunc.i16 %3
;=   store %r, %o[%i]
;=   ret
;= }

kernel @clz_above_in_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_in_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bit_reverse.i64 %a
;=   %1 = not.i64 %0
;=   %2 = const.i64 1
;=   %3 = sub.i64 %0, %2
;=   %4 = and.i64 %1, %3
;=   %r = popcount.i64 %4
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=clz
kernel @clz_above_by_below(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_above_by_below(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bit_reverse.i32 %a
;=   %r = ctz.i32 %0
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=ctz
; Zeros below the lowest bit.
kernel @ctz_below_in_a_word(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ctz.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @ctz_below_in_a_word(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bit_reverse.i32 %a
;=   %r = clz.i32 %0
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=ctz,popcount
kernel @ctz_below_by_above(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ctz.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @ctz_below_by_above(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bit_reverse.i32 %a
;=   %r = clz.i32 %0
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=ctz.i16,popcount.i16,clz.i16
kernel @ctz_below_in_a_half(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ctz.i16 %a
  store %r, %o[%i]
  ret
}
;= kernel @ctz_below_in_a_half(%x: in i16, %o: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = zext.i32 %a
;=   %1 = const.i32 65536
;=   %2 = or.i32 %0, %1
;=   %3 = ctz.i32 %2
;=   %r = trunc.i16 %3
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=ctz.i64,popcount.i64,clz.i64,bit_reverse.i64
kernel @ctz_below_in_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ctz.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @ctz_below_in_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = not.i64 %a
;=   %1 = const.i64 1
;=   %2 = sub.i64 %a, %1
;=   %3 = and.i64 %0, %2
;=   %4 = split.i32 %3, 0
;=   %5 = popcount.i32 %4
;=   %6 = split.i32 %3, 1
;=   %7 = popcount.i32 %6
;=   %8 = add.i32 %5, %7
;=   %9 = const.i32 0
;=   %r = concat.i64 %8, %9
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=bit_reverse
; Bits in the opposite order.
kernel @bit_reverse_in_bytes(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i8x4 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_in_bytes(%x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i8x4 1
;=   %1 = shr_u.i8x4 %a, %0
;=   %2 = const.i8x4 85
;=   %3 = and.i8x4 %1, %2
;=   %4 = and.i8x4 %a, %2
;=   %5 = shl.i8x4 %4, %0
;=   %6 = or.i8x4 %3, %5
;=   %7 = const.i8x4 2
;=   %8 = shr_u.i8x4 %6, %7
;=   %9 = const.i8x4 51
;=   %10 = and.i8x4 %8, %9
;=   %11 = and.i8x4 %6, %9
;=   %12 = shl.i8x4 %11, %7
;=   %13 = or.i8x4 %10, %12
;=   %14 = const.i8x4 4
;=   %15 = shr_u.i8x4 %13, %14
;=   %16 = const.i8x4 15
;=   %17 = and.i8x4 %15, %16
;=   %18 = and.i8x4 %13, %16
;=   %19 = shl.i8x4 %18, %14
;=   %r = or.i8x4 %17, %19
;=   store %r, %o[%i]
;=   ret
;= }

kernel @bit_reverse_in_halves(%x: in i16x2, %o: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i16x2 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_in_halves(%x: in i16x2, %o: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i16x2 1
;=   %1 = shr_u.i16x2 %a, %0
;=   %2 = const.i16x2 21845
;=   %3 = and.i16x2 %1, %2
;=   %4 = and.i16x2 %a, %2
;=   %5 = shl.i16x2 %4, %0
;=   %6 = or.i16x2 %3, %5
;=   %7 = const.i16x2 2
;=   %8 = shr_u.i16x2 %6, %7
;=   %9 = const.i16x2 13107
;=   %10 = and.i16x2 %8, %9
;=   %11 = and.i16x2 %6, %9
;=   %12 = shl.i16x2 %11, %7
;=   %13 = or.i16x2 %10, %12
;=   %14 = const.i16x2 4
;=   %15 = shr_u.i16x2 %13, %14
;=   %16 = const.i16x2 3855
;=   %17 = and.i16x2 %15, %16
;=   %18 = and.i16x2 %13, %16
;=   %19 = shl.i16x2 %18, %14
;=   %20 = or.i16x2 %17, %19
;=   %21 = const.i16x2 8
;=   %r = rotl.i16x2 %20, %21
;=   store %r, %o[%i]
;=   ret
;= }

kernel @bit_reverse_in_a_word(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i32 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_in_a_word(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i8x4 %a
;=   %1 = const.i8x4 1
;=   %2 = shr_u.i8x4 %0, %1
;=   %3 = const.i8x4 85
;=   %4 = and.i8x4 %2, %3
;=   %5 = and.i8x4 %0, %3
;=   %6 = shl.i8x4 %5, %1
;=   %7 = or.i8x4 %4, %6
;=   %8 = const.i8x4 2
;=   %9 = shr_u.i8x4 %7, %8
;=   %10 = const.i8x4 51
;=   %11 = and.i8x4 %9, %10
;=   %12 = and.i8x4 %7, %10
;=   %13 = shl.i8x4 %12, %8
;=   %14 = or.i8x4 %11, %13
;=   %15 = const.i8x4 4
;=   %16 = shr_u.i8x4 %14, %15
;=   %17 = const.i8x4 15
;=   %18 = and.i8x4 %16, %17
;=   %19 = and.i8x4 %14, %17
;=   %20 = shl.i8x4 %19, %15
;=   %21 = or.i8x4 %18, %20
;=   %22 = shuffle.i8x4 %21, %21, [3, 2, 1, 0]
;=   %r = bitcast.i32 %22
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=bit_reverse.i8x4,bit_reverse.i16,bit_reverse.i64
kernel @bit_reverse_packed(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i8x4 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_packed(%x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i32 %a
;=   %1 = bit_reverse.i32 %0
;=   %2 = bitcast.i8x4 %1
;=   %r = shuffle.i8x4 %2, %2, [3, 2, 1, 0]
;=   store %r, %o[%i]
;=   ret
;= }

kernel @bit_reverse_in_a_half(%x: in i16, %o: out i16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i16 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_in_a_half(%x: in i16, %o: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = zext.i32 %a
;=   %1 = bit_reverse.i32 %0
;=   %2 = const.i32 16
;=   %3 = shr_u.i32 %1, %2
;=   %r = trunc.i16 %3
;=   store %r, %o[%i]
;=   ret
;= }

kernel @bit_reverse_in_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = bit_reverse.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @bit_reverse_in_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i32 %a, 1
;=   %1 = bit_reverse.i32 %0
;=   %2 = split.i32 %a, 0
;=   %3 = bit_reverse.i32 %2
;=   %r = concat.i64 %1, %3
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=dot4_s,dot2_s
; Dot products lane by lane.
kernel @dot4_s(%x: in i8x4, %y: in i8x4, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot4_s.i8x4 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot4_s(%x: in i8x4, %y: in i8x4, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i8x4 %b, 0
;=   %3 = sext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i8x4 %a, 1
;=   %7 = sext.i32 %6
;=   %8 = extract.i8x4 %b, 1
;=   %9 = sext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %11 = add.i32 %10, %5
;=   %12 = extract.i8x4 %a, 2
;=   %13 = sext.i32 %12
;=   %14 = extract.i8x4 %b, 2
;=   %15 = sext.i32 %14
;=   %16 = mul.i32 %13, %15
;=   %17 = add.i32 %16, %11
;=   %18 = extract.i8x4 %a, 3
;=   %19 = sext.i32 %18
;=   %20 = extract.i8x4 %b, 3
;=   %21 = sext.i32 %20
;=   %22 = mul.i32 %19, %21
;=   %r = add.i32 %22, %17
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_s(%x: in i16x2, %y: in i16x2, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot2_s.i16x2 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot2_s(%x: in i16x2, %y: in i16x2, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i16x2 %b, 0
;=   %3 = sext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i16x2 %a, 1
;=   %7 = sext.i32 %6
;=   %8 = extract.i16x2 %b, 1
;=   %9 = sext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %r = add.i32 %10, %5
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=dot4_u,dot2_u
kernel @dot4_u(%x: in i8x4, %y: in i8x4, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot4_u.i8x4 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot4_u(%x: in i8x4, %y: in i8x4, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = zext.i32 %0
;=   %2 = extract.i8x4 %b, 0
;=   %3 = zext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i8x4 %a, 1
;=   %7 = zext.i32 %6
;=   %8 = extract.i8x4 %b, 1
;=   %9 = zext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %11 = add.i32 %10, %5
;=   %12 = extract.i8x4 %a, 2
;=   %13 = zext.i32 %12
;=   %14 = extract.i8x4 %b, 2
;=   %15 = zext.i32 %14
;=   %16 = mul.i32 %13, %15
;=   %17 = add.i32 %16, %11
;=   %18 = extract.i8x4 %a, 3
;=   %19 = zext.i32 %18
;=   %20 = extract.i8x4 %b, 3
;=   %21 = zext.i32 %20
;=   %22 = mul.i32 %19, %21
;=   %r = add.i32 %22, %17
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_u(%x: in i16x2, %y: in i16x2, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot2_u.i16x2 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot2_u(%x: in i16x2, %y: in i16x2, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = zext.i32 %0
;=   %2 = extract.i16x2 %b, 0
;=   %3 = zext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i16x2 %a, 1
;=   %7 = zext.i32 %6
;=   %8 = extract.i16x2 %b, 1
;=   %9 = zext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %r = add.i32 %10, %5
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=dot4_su,dot2_su
kernel @dot4_su(%x: in i8x4, %y: in i8x4, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot4_su.i8x4 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot4_su(%x: in i8x4, %y: in i8x4, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i8x4 %b, 0
;=   %3 = zext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i8x4 %a, 1
;=   %7 = sext.i32 %6
;=   %8 = extract.i8x4 %b, 1
;=   %9 = zext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %11 = add.i32 %10, %5
;=   %12 = extract.i8x4 %a, 2
;=   %13 = sext.i32 %12
;=   %14 = extract.i8x4 %b, 2
;=   %15 = zext.i32 %14
;=   %16 = mul.i32 %13, %15
;=   %17 = add.i32 %16, %11
;=   %18 = extract.i8x4 %a, 3
;=   %19 = sext.i32 %18
;=   %20 = extract.i8x4 %b, 3
;=   %21 = zext.i32 %20
;=   %22 = mul.i32 %19, %21
;=   %r = add.i32 %22, %17
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_su(%x: in i16x2, %y: in i16x2, %o: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %o[%i]
  %r = dot2_su.i16x2 %a, %b, %c
  store %r, %o[%i]
  ret
}
;= kernel @dot2_su(%x: in i16x2, %y: in i16x2, %o: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %c = load %o[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i16x2 %b, 0
;=   %3 = zext.i32 %2
;=   %4 = mul.i32 %1, %3
;=   %5 = add.i32 %4, %c
;=   %6 = extract.i16x2 %a, 1
;=   %7 = sext.i32 %6
;=   %8 = extract.i16x2 %b, 1
;=   %9 = zext.i32 %8
;=   %10 = mul.i32 %7, %9
;=   %r = add.i32 %10, %5
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=rotr
kernel @rotr_by_left_constant(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 3
  %r = rotr.i32 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @rotr_by_left_constant(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 29
;=   %r = rotl.i32 %a, %0
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=rotl,rotr,shl.i64,shr_u.i64,and.i64,or.i64
kernel @rotl_of_halves_of_a_pair(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotl.i64 %a, %b
  store %r, %o[%i]
  ret
}
;= kernel @rotl_of_halves_of_a_pair(%x: in i64, %y: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = split.i32 %b, 0
;=   %1 = const.i32 32
;=   %2 = and.i32 %0, %1
;=   %3 = const.i32 0
;=   %4 = icmp.ne.i32 %2, %3
;=   %5 = split.i32 %a, 1
;=   %6 = split.i32 %a, 0
;=   %7 = select.i32 %4, %5, %6
;=   %8 = select.i32 %4, %6, %5
;=   %9 = not.i32 %0
;=   %10 = const.i32 1
;=   %11 = shr_u.i32 %7, %10
;=   %12 = shr_u.i32 %11, %9
;=   %13 = shr_u.i32 %8, %10
;=   %14 = shr_u.i32 %13, %9
;=   %15 = shl.i32 %7, %0
;=   %16 = or.i32 %15, %14
;=   %17 = shl.i32 %8, %0
;=   %18 = or.i32 %17, %12
;=   %r = concat.i64 %16, %18
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=clz.i64,popcount,ctz.i64,bit_reverse
kernel @clz_of_halves_of_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = clz.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @clz_of_halves_of_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i32 %a, 1
;=   %1 = const.i32 0
;=   %2 = icmp.eq.i32 %0, %1
;=   %3 = split.i32 %a, 0
;=   %4 = clz.i32 %3
;=   %5 = const.i32 32
;=   %6 = add.i32 %4, %5
;=   %7 = clz.i32 %0
;=   %8 = select.i32 %2, %6, %7
;=   %r = concat.i64 %8, %1
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=ctz.i64,popcount,clz.i64,bit_reverse
kernel @ctz_of_halves_of_a_pair(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ctz.i64 %a
  store %r, %o[%i]
  ret
}
;= kernel @ctz_of_halves_of_a_pair(%x: in i64, %o: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = const.i32 0
;=   %2 = icmp.eq.i32 %0, %1
;=   %3 = split.i32 %a, 1
;=   %4 = ctz.i32 %3
;=   %5 = const.i32 32
;=   %6 = add.i32 %4, %5
;=   %7 = ctz.i32 %0
;=   %8 = select.i32 %2, %6, %7
;=   %r = concat.i64 %8, %1
;=   store %r, %o[%i]
;=   ret
;= }

; test: lower without=shl.i8x4,shr_u.i8x4,shr_u.i16x2,shr_s.i16x2
kernel @shl_i8x4_by_one_count(%n: i8, %x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = splat.i8x4 %n
  %r = shl.i8x4 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @shl_i8x4_by_one_count(%n: i8, %x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i32 %a
;=   %1 = zext.i32 %n
;=   %2 = const.i32 7
;=   %3 = and.i32 %1, %2
;=   %4 = shl.i32 %0, %3
;=   %5 = bitcast.i8x4 %4
;=   %6 = const.i8 -1
;=   %7 = shl.i8 %6, %n
;=   %8 = splat.i8x4 %7
;=   %r = and.i8x4 %5, %8
;=   store %r, %o[%i]
;=   ret
;= }

kernel @shr_u_i8x4_by_one_count(%n: i8, %x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = splat.i8x4 %n
  %r = shr_u.i8x4 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @shr_u_i8x4_by_one_count(%n: i8, %x: in i8x4, %o: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i32 %a
;=   %1 = zext.i32 %n
;=   %2 = const.i32 7
;=   %3 = and.i32 %1, %2
;=   %4 = shr_u.i32 %0, %3
;=   %5 = bitcast.i8x4 %4
;=   %6 = const.i8 -1
;=   %7 = shr_u.i8 %6, %n
;=   %8 = splat.i8x4 %7
;=   %r = and.i8x4 %5, %8
;=   store %r, %o[%i]
;=   ret
;= }

kernel @shr_s_i16x2_by_one_count(%n: i16, %x: in i16x2, %o: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = splat.i16x2 %n
  %r = shr_s.i16x2 %a, %k
  store %r, %o[%i]
  ret
}
;= kernel @shr_s_i16x2_by_one_count(%n: i16, %x: in i16x2, %o: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i16 -32768
;=   %1 = shr_u.i16 %0, %n
;=   %2 = splat.i16x2 %1
;=   %3 = bitcast.i32 %a
;=   %4 = zext.i32 %n
;=   %5 = const.i32 15
;=   %6 = and.i32 %4, %5
;=   %7 = shr_u.i32 %3, %6
;=   %8 = bitcast.i16x2 %7
;=   %9 = const.i16 -1
;=   %10 = shr_u.i16 %9, %n
;=   %11 = splat.i16x2 %10
;=   %12 = and.i16x2 %8, %11
;=   %13 = xor.i16x2 %12, %2
;=   %r = sub.i16x2 %13, %2
;=   store %r, %o[%i]
;=   ret
;= }
