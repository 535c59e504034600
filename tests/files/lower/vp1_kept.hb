; test: lower vp1
; What items compute of bytes, in lanes of more bits, all items of a group at once.

; Half-words that bytes are made into are wide lanes; two of four are of an item.
kernel @pairs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %zero = const.i8x4 0
  %a_apart = shuffle.i8x4 %a, %zero, [0, 4, 1, 4]
  %b_apart = shuffle.i8x4 %b, %zero, [0, 4, 1, 4]
  %p = bitcast.i16x2 %a_apart
  %q = bitcast.i16x2 %b_apart
  %x = add.i16x2 %p, %q
  %one = const.i16x2 1
  %y = shr_u.i16x2 %x, %one
  %s = bitcast.i8x4 %y
  %r = shuffle.i8x4 %s, %a, [0, 2, 4, 5]
  store %r, %out[%i]
  ret
}
;= kernel @pairs(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) groups 4 {
;=   stream %a_in_0: in i8x16 of %a_in, 4 bytes at 4 * item
;=   stream %b_in_1: in i8x16 of %b_in, 4 bytes at 4 * item
;=   stream %out_2: out i8x16 of %out, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i8x16 0
;=   %2 = const.i16x16 1
;=   %a = load %a_in_0[%0]
;=   %b = load %b_in_1[%0]
;=   %a_apart = shuffle.i8x16 %a, %1, [0, 16, 1, 16, 4, 20, 5, 20, 8, 24, 9, 24, 12, 28, 13, 28]
;=   %b_apart = shuffle.i8x16 %b, %1, [0, 16, 1, 16, 4, 20, 5, 20, 8, 24, 9, 24, 12, 28, 13, 28]
;=   %3 = zext.i16x16 %a_apart
;=   %4 = zext.i16x16 %b_apart
;=   %5 = add.i16x16 %3, %4
;=   %6 = shr_u.i16x16 %5, %2
;=   %7 = trunc.i8x16 %6
;=   %r = shuffle.i8x16 %7, %a, [0, 2, 16, 17, 4, 6, 20, 21, 8, 10, 24, 25, 12, 14, 28, 29]
;=   store %r, %out_2[%0]
;=   ret
;= }

; Numbers of items that are made of bytes and come to bytes are wide lanes, an item a lane: the accumulator has the sum, and clamps it.
kernel @numbers(%x: in i8, %y: in i8, %s: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = zext.i32 %a
  %q = sext.i32 %b
  %u = add.i32 %p, %q
  %v = max_s.i32 %u, 0
  %w = min_s.i32 %v, 255
  %r = trunc.i8 %w
  store %r, %s[%i]
  ret
}
;= kernel @numbers(%x: in i8, %y: in i8, %s: out i8) groups 16 {
;=   stream %x_0: in i8x16 of %x, 1 byte at 1 * item
;=   stream %y_1: in i8x16 of %y, 1 byte at 1 * item
;=   stream %s_2: out i8x16 of %s, 1 byte at 1 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %x_0[%0]
;=   %b = load %y_1[%0]
;=   %1 = zext.i32x16 %a
;=   %2 = sext.i32x16 %b
;=   %3 = add.i32x16 %1, %2
;=   %4 = narrow_sat_s.i16x16 %3
;=   %r = narrow_sat_u.i8x16 %4
;=   store %r, %s_2[%0]
;=   ret
;= }

; Whose sum is stored as a number is one an item, all the same.
kernel @numbers_stored(%x: in i8, %y: in i8, %s: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = zext.i32 %a
  %q = zext.i32 %b
  %u = add.i32 %p, %q
  store %u, %s[%i]
  ret
}
; check: add.i32

; A choice between two numbers is kept though neither is there in wide lanes, and so is a number that is the same for all items.
kernel @chosen(%k: i16, %x: in i8, %y: in i8, %s: out i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = icmp.lt_u.i8 %a, %b
  %p = zext.i16 %a
  %c = const.i16 300
  %d = const.i16 7
  %t = select.i16 %m, %c, %d
  %u = add.i16 %p, %t
  %v = max_u.i16 %u, %k
  %n = const.i16 2
  %w = shr_u.i16 %v, %n
  %r = trunc.i8 %w
  store %r, %s[%i]
  ret
}
;= kernel @chosen(%k: i16, %x: in i8, %y: in i8, %s: out i8) groups 16 {
;=   stream %x_0: in i8x16 of %x, 1 byte at 1 * item
;=   stream %y_1: in i8x16 of %y, 1 byte at 1 * item
;=   stream %s_2: out i8x16 of %s, 1 byte at 1 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %x_0[%0]
;=   %b = load %y_1[%0]
;=   %m = icmp.lt_u.i8x16 %a, %b
;=   %1 = zext.i16x16 %a
;=   %2 = const.i8x16 44
;=   %3 = const.i8x16 1
;=   %4 = const.i8x16 7
;=   %5 = select.i8x16 %m, %2, %4
;=   %6 = const.i8x16 0
;=   %7 = select.i8x16 %m, %3, %6
;=   %8 = zext.i16x16 %5
;=   %9 = add.i16x16 %1, %8
;=   %10 = trunc.i8x16 %9
;=   %11 = const.i16x16 8
;=   %12 = shr_s.i16x16 %9, %11
;=   %13 = trunc.i8x16 %12
;=   %14 = zext.i16x16 %7
;=   %15 = zext.i16x16 %13
;=   %16 = add.i16x16 %14, %15
;=   %17 = trunc.i8x16 %16
;=   %18 = zext.i32 %k
;=   %19 = split.i8 %18, 0
;=   %20 = splat.i8x16 %19
;=   %21 = split.i8 %18, 1
;=   %22 = splat.i8x16 %21
;=   %23 = icmp.lt_u.i8x16 %20, %10
;=   %24 = icmp.lt_u.i8x16 %22, %17
;=   %25 = icmp.eq.i8x16 %22, %17
;=   %26 = and.i1x16 %25, %23
;=   %27 = or.i1x16 %24, %26
;=   %28 = select.i8x16 %27, %10, %20
;=   %29 = select.i8x16 %27, %17, %22
;=   %30 = const.i8x16 2
;=   %31 = shr_u.i8x16 %28, %30
;=   %32 = const.i8x16 6
;=   %33 = shl.i8x16 %29, %32
;=   %r = or.i8x16 %31, %33
;=   store %r, %s_2[%0]
;=   ret
;= }
