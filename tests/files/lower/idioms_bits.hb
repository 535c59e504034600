; test: lower passes=canon,dce
; Rotations, counts and dot products that are written in other ops.
kernel @rotation_by_or(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_or(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotation_by_or_exchanged(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = or.i32 %q, %p
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_or_exchanged(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotation_by_xor(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = xor.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_xor(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotation_by_xor_exchanged(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = xor.i32 %q, %p
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_xor_exchanged(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotation_by_add(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = add.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_add(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

kernel @rotation_by_add_exchanged(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 25
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = add.i32 %q, %p
  store %r, %o[%i]
  ret
}
;= kernel @rotation_by_add_exchanged(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %r = rotl.i32 %a, %k
;=   store %r, %o[%i]
;=   ret
;= }

; Not the width together.
kernel @no_rotation(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 7
  %n = const.i32 24
  %p = shl.i32 %a, %k
  %q = shr_u.i32 %a, %n
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @no_rotation(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 7
;=   %n = const.i32 24
;=   %p = shl.i32 %a, %k
;=   %q = shr_u.i32 %a, %n
;=   %r = or.i32 %p, %q
;=   store %r, %o[%i]
;=   ret
;= }

kernel @left_by_difference(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = const.i32 32
  %m = sub.i32 %w, %n
  %p = shl.i32 %a, %n
  %q = shr_u.i32 %a, %m
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @left_by_difference(%n: i32, %x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = rotl.i32 %a, %n
;=   store %r, %o[%i]
;=   ret
;= }

kernel @right_by_difference(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = const.i32 32
  %m = sub.i32 %w, %n
  %p = shr_u.i32 %a, %n
  %q = shl.i32 %a, %m
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @right_by_difference(%n: i32, %x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = rotr.i32 %a, %n
;=   store %r, %o[%i]
;=   ret
;= }

kernel @left_exchanged_by_difference(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = const.i32 32
  %m = sub.i32 %w, %n
  %p = shl.i32 %a, %n
  %q = shr_u.i32 %a, %m
  %r = or.i32 %q, %p
  store %r, %o[%i]
  ret
}
;= kernel @left_exchanged_by_difference(%n: i32, %x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = rotl.i32 %a, %n
;=   store %r, %o[%i]
;=   ret
;= }

kernel @right_exchanged_by_difference(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = const.i32 32
  %m = sub.i32 %w, %n
  %p = shr_u.i32 %a, %n
  %q = shl.i32 %a, %m
  %r = or.i32 %q, %p
  store %r, %o[%i]
  ret
}
;= kernel @right_exchanged_by_difference(%n: i32, %x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = rotr.i32 %a, %n
;=   store %r, %o[%i]
;=   ret
;= }

; A sum of both would be twice the number where the count is 0.
kernel @no_rotation_by_difference(%n: i32, %x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %w = const.i32 32
  %m = sub.i32 %w, %n
  %p = shl.i32 %a, %n
  %q = shr_u.i32 %a, %m
  %r = add.i32 %p, %q
  store %r, %o[%i]
  ret
}
;= kernel @no_rotation_by_difference(%n: i32, %x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %w = const.i32 32
;=   %m = sub.i32 %w, %n
;=   %p = shl.i32 %a, %n
;=   %q = shr_u.i32 %a, %m
;=   %r = add.i32 %p, %q
;=   store %r, %o[%i]
;=   ret
;= }

kernel @count_by_sums(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %one = const.i32 1
  %m1 = const.i32 0x55555555
  %s1 = shr_u.i32 %a, %one
  %t1 = and.i32 %s1, %m1
  %p = sub.i32 %a, %t1
  %m2 = const.i32 0x33333333
  %two = const.i32 2
  %l = and.i32 %p, %m2
  %s2 = shr_u.i32 %p, %two
  %h = and.i32 %s2, %m2
  %f = add.i32 %l, %h
  %four = const.i32 4
  %s4 = shr_u.i32 %f, %four
  %g = add.i32 %f, %s4
  %m4 = const.i32 0x0f0f0f0f
  %b = and.i32 %g, %m4
  %e = const.i32 0x01010101
  %w = mul.i32 %b, %e
  %k = const.i32 24
  %r = shr_u.i32 %w, %k
  store %r, %o[%i]
  ret
}
;= kernel @count_by_sums(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = popcount.i32 %a
;=   store %r, %o[%i]
;=   ret
;= }

kernel @zeros_below(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = not.i32 %a
  %one = const.i32 1
  %m = sub.i32 %a, %one
  %b = and.i32 %n, %m
  %r = popcount.i32 %b
  store %r, %o[%i]
  ret
}
;= kernel @zeros_below(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = ctz.i32 %a
;=   store %r, %o[%i]
;=   ret
;= }

kernel @zeros_below_by_sum(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = not.i32 %a
  %one = const.i32 -1
  %m = add.i32 %a, %one
  %b = and.i32 %n, %m
  %r = popcount.i32 %b
  store %r, %o[%i]
  ret
}
;= kernel @zeros_below_by_sum(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = ctz.i32 %a
;=   store %r, %o[%i]
;=   ret
;= }

kernel @zeros_below_by_reversal(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = bit_reverse.i32 %a
  %r = clz.i32 %b
  store %r, %o[%i]
  ret
}
;= kernel @zeros_below_by_reversal(%x: in i32, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %r = ctz.i32 %a
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot4_s(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i8x4 %a, 0
  %b0 = extract.i8x4 %b, 0
  %p0 = sext.i32 %a0
  %q0 = sext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i8x4 %a, 1
  %b1 = extract.i8x4 %b, 1
  %p1 = sext.i32 %a1
  %q1 = sext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %a2 = extract.i8x4 %a, 2
  %b2 = extract.i8x4 %b, 2
  %p2 = sext.i32 %a2
  %q2 = sext.i32 %b2
  %d2 = mul.i32 %p2, %q2
  %a3 = extract.i8x4 %a, 3
  %b3 = extract.i8x4 %b, 3
  %p3 = sext.i32 %a3
  %q3 = sext.i32 %b3
  %d3 = mul.i32 %p3, %q3
  %s0 = add.i32 %c, %d0
  %s1 = add.i32 %s0, %d1
  %s2 = add.i32 %s1, %d2
  %r = add.i32 %s2, %d3
  store %r, %o[%i]
  ret
}
;= kernel @dot4_s(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot4_s.i8x4 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_s(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i16x2 %a, 0
  %b0 = extract.i16x2 %b, 0
  %p0 = sext.i32 %a0
  %q0 = sext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i16x2 %a, 1
  %b1 = extract.i16x2 %b, 1
  %p1 = sext.i32 %a1
  %q1 = sext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %s0 = add.i32 %c, %d0
  %r = add.i32 %s0, %d1
  store %r, %o[%i]
  ret
}
;= kernel @dot2_s(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot2_s.i16x2 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot4_u(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i8x4 %a, 0
  %b0 = extract.i8x4 %b, 0
  %p0 = zext.i32 %a0
  %q0 = zext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i8x4 %a, 1
  %b1 = extract.i8x4 %b, 1
  %p1 = zext.i32 %a1
  %q1 = zext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %a2 = extract.i8x4 %a, 2
  %b2 = extract.i8x4 %b, 2
  %p2 = zext.i32 %a2
  %q2 = zext.i32 %b2
  %d2 = mul.i32 %p2, %q2
  %a3 = extract.i8x4 %a, 3
  %b3 = extract.i8x4 %b, 3
  %p3 = zext.i32 %a3
  %q3 = zext.i32 %b3
  %d3 = mul.i32 %p3, %q3
  %s0 = add.i32 %c, %d0
  %s1 = add.i32 %s0, %d1
  %s2 = add.i32 %s1, %d2
  %r = add.i32 %s2, %d3
  store %r, %o[%i]
  ret
}
;= kernel @dot4_u(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot4_u.i8x4 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_u(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i16x2 %a, 0
  %b0 = extract.i16x2 %b, 0
  %p0 = zext.i32 %a0
  %q0 = zext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i16x2 %a, 1
  %b1 = extract.i16x2 %b, 1
  %p1 = zext.i32 %a1
  %q1 = zext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %s0 = add.i32 %c, %d0
  %r = add.i32 %s0, %d1
  store %r, %o[%i]
  ret
}
;= kernel @dot2_u(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot2_u.i16x2 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot4_su(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i8x4 %a, 0
  %b0 = extract.i8x4 %b, 0
  %p0 = sext.i32 %a0
  %q0 = zext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i8x4 %a, 1
  %b1 = extract.i8x4 %b, 1
  %p1 = sext.i32 %a1
  %q1 = zext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %a2 = extract.i8x4 %a, 2
  %b2 = extract.i8x4 %b, 2
  %p2 = sext.i32 %a2
  %q2 = zext.i32 %b2
  %d2 = mul.i32 %p2, %q2
  %a3 = extract.i8x4 %a, 3
  %b3 = extract.i8x4 %b, 3
  %p3 = sext.i32 %a3
  %q3 = zext.i32 %b3
  %d3 = mul.i32 %p3, %q3
  %s0 = add.i32 %c, %d0
  %s1 = add.i32 %s0, %d1
  %s2 = add.i32 %s1, %d2
  %r = add.i32 %s2, %d3
  store %r, %o[%i]
  ret
}
;= kernel @dot4_su(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot4_su.i8x4 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

kernel @dot2_su(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i16x2 %a, 0
  %b0 = extract.i16x2 %b, 0
  %p0 = sext.i32 %a0
  %q0 = zext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i16x2 %a, 1
  %b1 = extract.i16x2 %b, 1
  %p1 = sext.i32 %a1
  %q1 = zext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %s0 = add.i32 %c, %d0
  %r = add.i32 %s0, %d1
  store %r, %o[%i]
  ret
}
;= kernel @dot2_su(%c: i32, %x: in i16x2, %y: in i16x2, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %r = dot2_su.i16x2 %a, %b, %c
;=   store %r, %o[%i]
;=   ret
;= }

; A lane twice.
kernel @no_dot4(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i8x4 %a, 0
  %b0 = extract.i8x4 %b, 0
  %p0 = sext.i32 %a0
  %q0 = sext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i8x4 %a, 1
  %b1 = extract.i8x4 %b, 1
  %p1 = sext.i32 %a1
  %q1 = sext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %a2 = extract.i8x4 %a, 2
  %b2 = extract.i8x4 %b, 2
  %p2 = sext.i32 %a2
  %q2 = sext.i32 %b2
  %d2 = mul.i32 %p2, %q2
  %a3 = extract.i8x4 %a, 0
  %b3 = extract.i8x4 %b, 3
  %p3 = sext.i32 %a3
  %q3 = sext.i32 %b3
  %d3 = mul.i32 %p3, %q3
  %s0 = add.i32 %c, %d0
  %s1 = add.i32 %s0, %d1
  %s2 = add.i32 %s1, %d2
  %r = add.i32 %s2, %d3
  store %r, %o[%i]
  ret
}
;= kernel @no_dot4(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %a0 = extract.i8x4 %a, 0
;=   %b0 = extract.i8x4 %b, 0
;=   %p0 = sext.i32 %a0
;=   %q0 = sext.i32 %b0
;=   %d0 = mul.i32 %p0, %q0
;=   %a1 = extract.i8x4 %a, 1
;=   %b1 = extract.i8x4 %b, 1
;=   %p1 = sext.i32 %a1
;=   %q1 = sext.i32 %b1
;=   %d1 = mul.i32 %p1, %q1
;=   %a2 = extract.i8x4 %a, 2
;=   %b2 = extract.i8x4 %b, 2
;=   %p2 = sext.i32 %a2
;=   %q2 = sext.i32 %b2
;=   %d2 = mul.i32 %p2, %q2
;=   %a3 = extract.i8x4 %a, 0
;=   %b3 = extract.i8x4 %b, 3
;=   %p3 = sext.i32 %a3
;=   %q3 = sext.i32 %b3
;=   %d3 = mul.i32 %p3, %q3
;=   %s0 = add.i32 %c, %d0
;=   %s1 = add.i32 %s0, %d1
;=   %s2 = add.i32 %s1, %d2
;=   %r = add.i32 %s2, %d3
;=   store %r, %o[%i]
;=   ret
;= }

; Three lanes of four.
kernel @no_dot3(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = extract.i8x4 %a, 0
  %b0 = extract.i8x4 %b, 0
  %p0 = sext.i32 %a0
  %q0 = sext.i32 %b0
  %d0 = mul.i32 %p0, %q0
  %a1 = extract.i8x4 %a, 1
  %b1 = extract.i8x4 %b, 1
  %p1 = sext.i32 %a1
  %q1 = sext.i32 %b1
  %d1 = mul.i32 %p1, %q1
  %a2 = extract.i8x4 %a, 2
  %b2 = extract.i8x4 %b, 2
  %p2 = sext.i32 %a2
  %q2 = sext.i32 %b2
  %d2 = mul.i32 %p2, %q2
  %s0 = add.i32 %c, %d0
  %s1 = add.i32 %s0, %d1
  %r = add.i32 %s1, %d2
  store %r, %o[%i]
  ret
}
;= kernel @no_dot3(%c: i32, %x: in i8x4, %y: in i8x4, %o: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %a0 = extract.i8x4 %a, 0
;=   %b0 = extract.i8x4 %b, 0
;=   %p0 = sext.i32 %a0
;=   %q0 = sext.i32 %b0
;=   %d0 = mul.i32 %p0, %q0
;=   %a1 = extract.i8x4 %a, 1
;=   %b1 = extract.i8x4 %b, 1
;=   %p1 = sext.i32 %a1
;=   %q1 = sext.i32 %b1
;=   %d1 = mul.i32 %p1, %q1
;=   %a2 = extract.i8x4 %a, 2
;=   %b2 = extract.i8x4 %b, 2
;=   %p2 = sext.i32 %a2
;=   %q2 = sext.i32 %b2
;=   %d2 = mul.i32 %p2, %q2
;=   %s0 = add.i32 %c, %d0
;=   %s1 = add.i32 %s0, %d1
;=   %r = add.i32 %s1, %d2
;=   store %r, %o[%i]
;=   ret
;= }

; Bits are tested in place.
kernel @test_in_place(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = const.i32 5
  %s = shr_u.i32 %a, %n
  %k = const.i32 1
  %m = and.i32 %s, %k
  %z = const.i32 0
  %c = icmp.ne.i32 %m, %z
  %r = mask_expand.i32 %c
  store %r, %o[%i]
  ret
}
; rule: test_in_place_u

kernel @test_in_place_signed(%x: in i16x2, %o: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = const.i16x2 8
  %s = shr_s.i16x2 %a, %n
  %k = const.i16x2 255
  %m = and.i16x2 %s, %k
  %z = const.i16x2 0
  %c = icmp.eq.i16x2 %m, %z
  %r = mask_expand.i16x2 %c
  store %r, %o[%i]
  ret
}
; rule: test_in_place_s

; A mask that reads copies of the sign is kept, and so is a comparison with another number.
kernel @test_not_in_place(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %n = const.i32 30
  %s = shr_s.i32 %a, %n
  %k = const.i32 4
  %m = and.i32 %s, %k
  %z = const.i32 0
  %c = icmp.ne.i32 %m, %z
  %r = mask_expand.i32 %c
  %l = const.i32 3
  %p = and.i32 %s, %l
  %q = const.i32 2
  %d = icmp.eq.i32 %p, %q
  %t = mask_expand.i32 %d
  %v = add.i32 %r, %t
  store %v, %o[%i]
  ret
}
; no rule: test_in_place_s, test_of_bit

; One bit.
kernel @test_of_bit(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 16
  %m = and.i32 %a, %k
  %c = icmp.eq.i32 %m, %k
  %r = mask_expand.i32 %c
  store %r, %o[%i]
  ret
}
; rule: test_of_bit

; Two bits are not.
kernel @test_of_two_bits(%x: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 17
  %m = and.i32 %a, %k
  %c = icmp.eq.i32 %m, %k
  %r = mask_expand.i32 %c
  store %r, %o[%i]
  ret
}
; no rule: test_of_bit

; The sign of packed lanes, tested by an unsigned bound.
kernel @test_of_sign(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8x4 127
  %c = icmp.gt_u.i8x4 %a, %k
  %r = mask_expand.i8x4 %c
  store %r, %o[%i]
  ret
}
; rule: test_of_sign

kernel @test_of_no_sign(%x: in i8x4, %o: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8x4 126
  %c = icmp.gt_u.i8x4 %a, %k
  %r = mask_expand.i8x4 %c
  store %r, %o[%i]
  ret
}
; no rule: test_of_sign

; Lanes of 0 or 1 that a product or a difference makes masks.
kernel @mask_by_product(%a_in: in i8x4, %b_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.gt_u.i8x4 %a, %b
  %e = mask_expand.i8x4 %m
  %o = const.i8x4 1
  %l = and.i8x4 %e, %o
  %w = bitcast.i32 %l
  %k = const.i32 255
  %r = mul.i32 %w, %k
  store %r, %out[%i]
  ret
}
; rule: mask_of_truths
; never: mul

kernel @mask_by_shift(%a_in: in i8x4, %b_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.gt_u.i8x4 %a, %b
  %e = mask_expand.i8x4 %m
  %o = const.i8x4 1
  %l = and.i8x4 %e, %o
  %w = bitcast.i32 %l
  %k = const.i32 8
  %x = shl.i32 %w, %k
  %r = sub.i32 %x, %w
  store %r, %out[%i]
  ret
}
; rule: mask_of_truths_by_shift
; never: sub

kernel @no_mask(%a_in: in i8x4, %b_in: in i8x4, %out0: out i32, %out1: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.gt_u.i8x4 %a, %b
  %e = mask_expand.i8x4 %m
  %o = const.i8x4 1
  %l = and.i8x4 %e, %o
  %w = bitcast.i32 %l
  %k = const.i32 127
  %r = mul.i32 %w, %k
  %n = const.i32 7
  %x = shl.i32 %w, %n
  %s = sub.i32 %x, %w
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; no rule: mask_of_truths, mask_of_truths_by_shift
