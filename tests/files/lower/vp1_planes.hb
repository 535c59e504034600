; test: lower vp1
; Wide lanes that the accumulator does not compute at once are vectors of bytes: what is narrowed is made of these.

; A sum round a loop is passed on as its bytes. What is added is added with the lowest of these by the accumulator.
kernel @passed(%n: i32, %a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %none = const.i16x16 0
  %zero = const.i32 0
  br ^head(%zero, %none)
^head(%c: i32, %sum: i16x16):
  %at = add.i32 %i, %c
  %a = load %a_in[%at]
  %p = zext.i16x16 %a
  %next = add.i16x16 %sum, %p
  %one = const.i32 1
  %d = add.i32 %c, %one
  %more = icmp.lt_s.i32 %d, %n
  br_if %more, ^head(%d, %next), ^exit
^exit:
  %k = const.i16x16 3
  %s = shr_u.i16x16 %next, %k
  %r = narrow_sat_uu.i8x16 %s
  store %r, %out[%i]
  ret
}
;= kernel @passed(%n: i32, %a_in: in i8x16, %out: out i8x16) groups 1 {
;=   stream %a_in_0: in i8x16 of %a_in, 16 bytes at 16 * item, loop 0 trips signed 1 * %n at_least 1 by 16
;=   stream %out_1: out i8x16 of %out, 16 bytes at 16 * item
;= ^entry:
;=   %i = item_id
;=   %0 = const.i32 0
;=   %1 = max_s.i32 %n, %0
;=   %2 = const.i32 1
;=   %3 = icmp.gt_u.i32 %1, %2
;=   %4 = select.i32 %3, %1, %2
;=   %5 = const.i8x16 0
;=   %6 = mul.i32 %i, %4
;=   br ^head(%0, %5, %5)
;= ^head(%c: i32, %7: i8x16, %8: i8x16):
;=   %9 = add.i32 %6, %c
;=   %a = load %a_in_0[%9]
;=   %p = zext.i16x16 %a
;=   %d = add.i32 %c, %2
;=   %more = icmp.lt_s.i32 %d, %n
;=   %10 = zext.i16x16 %7
;=   %11 = add.i16x16 %10, %p
;=   %12 = trunc.i8x16 %11
;=   %13 = const.i16x16 8
;=   %14 = shr_s.i16x16 %11, %13
;=   %15 = trunc.i8x16 %14
;=   %16 = zext.i16x16 %8
;=   %17 = zext.i16x16 %15
;=   %18 = add.i16x16 %16, %17
;=   %19 = trunc.i8x16 %18
;=   br_if %more, ^head(%d, %12, %19), ^0
;= ^0:
;=   %20 = const.i8x16 3
;=   %21 = shr_u.i8x16 %12, %20
;=   %22 = const.i8x16 5
;=   %23 = shl.i8x16 %19, %22
;=   %24 = or.i8x16 %21, %23
;=   %25 = shr_u.i8x16 %19, %20
;=   %26 = const.i8x16 -1
;=   %27 = icmp.eq.i8x16 %25, %5
;=   %r = select.i8x16 %27, %24, %26
;=   store %r, %out_1[%i]
;=   ret
;= }

; A sum of more bits than the accumulator holds.
kernel @many_bits(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = mul_wide_s.i8x16 %a, %b
  %k = const.i16x16 1000
  %y = mul.i16x16 %x, %k
  %r = trunc.i8x16 %y
  store %r, %out[%i]
  ret
}
;= kernel @many_bits(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) groups 1 {
;=   stream %a_in_0: in i8x16 of %a_in, 16 bytes at 16 * item
;=   stream %b_in_1: in i8x16 of %b_in, 16 bytes at 16 * item
;=   stream %out_2: out i8x16 of %out, 16 bytes at 16 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in_0[%i]
;=   %b = load %b_in_1[%i]
;=   %x = mul_wide_s.i8x16 %a, %b
;=   %0 = trunc.i8x16 %x
;=   %1 = const.i8x16 -24
;=   %r = mul.i8x16 %0, %1
;=   store %r, %out_2[%i]
;=   ret
;= }

; Counts that differ from lane to lane: each bit of them in turn.
kernel @shift_by_lanes(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = zext.i16x16 %a
  %y = zext.i16x16 %b
  %z = shl.i16x16 %x, %y
  %r = trunc.i8x16 %z
  store %r, %out[%i]
  ret
}
;= kernel @shift_by_lanes(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) groups 1 {
;=   stream %a_in_0: in i8x16 of %a_in, 16 bytes at 16 * item
;=   stream %b_in_1: in i8x16 of %b_in, 16 bytes at 16 * item
;=   stream %out_2: out i8x16 of %out, 16 bytes at 16 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in_0[%i]
;=   %b = load %b_in_1[%i]
;=   %0 = const.i8x16 1
;=   %1 = and.i8x16 %b, %0
;=   %2 = const.i8x16 0
;=   %3 = icmp.ne.i8x16 %1, %2
;=   %4 = shl.i8x16 %a, %0
;=   %5 = select.i8x16 %3, %4, %a
;=   %6 = const.i8x16 2
;=   %7 = and.i8x16 %b, %6
;=   %8 = icmp.ne.i8x16 %7, %2
;=   %9 = shl.i8x16 %5, %6
;=   %10 = select.i8x16 %8, %9, %5
;=   %11 = const.i8x16 4
;=   %12 = and.i8x16 %b, %11
;=   %13 = icmp.ne.i8x16 %12, %2
;=   %14 = shl.i8x16 %10, %11
;=   %15 = select.i8x16 %13, %14, %10
;=   %16 = const.i8x16 8
;=   %17 = and.i8x16 %b, %16
;=   %18 = icmp.ne.i8x16 %17, %2
;=   %r = select.i8x16 %18, %2, %15
;=   store %r, %out_2[%i]
;=   ret
;= }

; A comparison is one of bytes, from the lowest up; what is compared is a sum that the accumulator has.
kernel @compared(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %p = sext.i16x16 %a
  %q = sext.i16x16 %b
  %x = add.i16x16 %p, %q
  %k = const.i16x16 100
  %m = icmp.lt_s.i16x16 %x, %k
  %r = select.i8x16 %m, %a, %b
  store %r, %out[%i]
  ret
}
;= kernel @compared(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) groups 1 {
;=   stream %a_in_0: in i8x16 of %a_in, 16 bytes at 16 * item
;=   stream %b_in_1: in i8x16 of %b_in, 16 bytes at 16 * item
;=   stream %out_2: out i8x16 of %out, 16 bytes at 16 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in_0[%i]
;=   %b = load %b_in_1[%i]
;=   %p = sext.i16x16 %a
;=   %q = sext.i16x16 %b
;=   %x = add.i16x16 %p, %q
;=   %0 = trunc.i8x16 %x
;=   %1 = const.i16x16 8
;=   %2 = shr_s.i16x16 %x, %1
;=   %3 = trunc.i8x16 %2
;=   %4 = const.i8x16 100
;=   %5 = icmp.lt_u.i8x16 %0, %4
;=   %6 = const.i8x16 0
;=   %7 = icmp.lt_s.i8x16 %3, %6
;=   %8 = icmp.eq.i8x16 %3, %6
;=   %9 = and.i1x16 %8, %5
;=   %m = or.i1x16 %7, %9
;=   %r = select.i8x16 %m, %a, %b
;=   store %r, %out_2[%i]
;=   ret
;= }
