; test: lower halu passes=canon,gvn,canon,dce
; Lane arithmetic in words: the carries stay within the lanes, or bitwise logic corrects them.

kernel @sum(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %s = const.i32 0x80808080
  %p = and.i32 %a, %l
  %q = and.i32 %b, %l
  %w = add.i32 %p, %q
  %x = xor.i32 %a, %b
  %y = and.i32 %x, %s
  %r = xor.i32 %w, %y
  store %r, %out[%i]
  ret
}
; check: add.i8x4
; never: xor
; rule: lanes_of_words

kernel @difference(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %s = const.i32 0x80808080
  %p = or.i32 %a, %s
  %q = and.i32 %b, %l
  %w = sub.i32 %p, %q
  %x = xor.i32 %a, %b
  %n = not.i32 %x
  %y = and.i32 %n, %s
  %r = xor.i32 %y, %w
  store %r, %out[%i]
  ret
}
; check: sub.i8x4
; never: xor

kernel @negation(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %l = const.i32 0x7f7f7f7f
  %s = const.i32 0x80808080
  %p = and.i32 %a, %l
  %q = and.i32 %a, %s
  %w = sub.i32 %s, %p
  %x = xor.i32 %q, %w
  %r = xor.i32 %x, %s
  store %r, %out[%i]
  ret
}
; check: neg.i8x4
; never: xor

kernel @sum_of_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i32 %a, %b
  %t = add.i32 %a, %b
  %y = xor.i32 %x, %t
  %k = const.i32 65536
  %c = and.i32 %y, %k
  %r = sub.i32 %t, %c
  store %r, %out[%i]
  ret
}
; check: add.i16x2
; never: xor
; rule: lanes_of_words

kernel @difference_of_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i32 %a, %b
  %t = sub.i32 %a, %b
  %y = xor.i32 %x, %t
  %k = const.i32 65536
  %c = and.i32 %y, %k
  %r = add.i32 %t, %c
  store %r, %out[%i]
  ret
}
; check: sub.i16x2
; never: xor
; rule: lanes_of_words

kernel @average(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %o = or.i32 %a, %b
  %x = xor.i32 %a, %b
  %e = const.i32 0xfefefefe
  %y = and.i32 %x, %e
  %one = const.i32 1
  %h = shr_u.i32 %y, %one
  %r = sub.i32 %o, %h
  store %r, %out[%i]
  ret
}
; check: avg_u.i8x4
; never: xor

kernel @greater(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %n = not.i32 %b
  %p = and.i32 %a, %l
  %q = and.i32 %n, %l
  %w = add.i32 %p, %q
  %d = and.i32 %w, %b
  %e = xor.i32 %w, %d
  %f = xor.i32 %e, %a
  %g = and.i32 %w, %a
  %h = xor.i32 %f, %g
  %j = and.i32 %a, %b
  %v = xor.i32 %h, %j
  %z = const.i8x4 0
  %k = bitcast.i8x4 %v
  %c = icmp.lt_s.i8x4 %k, %z
  %m = mask_expand.i8x4 %c
  %r = bitcast.i32 %m
  store %r, %out[%i]
  ret
}
; check: icmp.gt_u.i8x4
; never: xor
; rule: signs_of_lanes

kernel @greater_as_truth(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %n = not.i32 %b
  %p = and.i32 %a, %l
  %q = and.i32 %n, %l
  %w = add.i32 %p, %q
  %d = and.i32 %w, %b
  %e = xor.i32 %w, %d
  %f = xor.i32 %e, %a
  %g = and.i32 %w, %a
  %h = xor.i32 %f, %g
  %j = and.i32 %a, %b
  %v = xor.i32 %h, %j
  %s = const.i32 0x80808080
  %u = and.i32 %v, %s
  %t = const.i32 7
  %r = shr_u.i32 %u, %t
  store %r, %out[%i]
  ret
}
; check: icmp.gt_u.i8x4
; check: and.i8x4
; never: xor
; rule: truths_of_lanes

kernel @equal(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i32 %a, %b
  %s = const.i32 0x80808080
  %u = or.i32 %x, %s
  %o = const.i32 0x01010100
  %d = sub.i32 %o, %u
  %n = not.i32 %x
  %v = and.i32 %d, %n
  %z = const.i8x4 0
  %k = bitcast.i8x4 %v
  %c = icmp.lt_s.i8x4 %k, %z
  %m = mask_expand.i8x4 %c
  %r = bitcast.i32 %m
  store %r, %out[%i]
  ret
}
; check: icmp.eq.i8x4
; never: xor

kernel @maximum(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %n = not.i32 %b
  %p = and.i32 %a, %l
  %q = and.i32 %n, %l
  %w = add.i32 %p, %q
  %d = and.i32 %w, %b
  %e = xor.i32 %w, %d
  %f = xor.i32 %e, %a
  %g = and.i32 %w, %a
  %h = xor.i32 %f, %g
  %j = and.i32 %a, %b
  %v = xor.i32 %h, %j
  %z = const.i8x4 0
  %k = bitcast.i8x4 %v
  %c = icmp.lt_s.i8x4 %k, %z
  %m = mask_expand.i8x4 %c
  %M = bitcast.i32 %m
  %X = and.i32 %a, %M
  %N = not.i32 %M
  %Y = and.i32 %b, %N
  %r = or.i32 %X, %Y
  store %r, %out[%i]
  ret
}
; check: max_u.i8x4
; never: xor
; rule: lanes_of_words, select_max_u

kernel @maximum_of_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = const.i32 16
  %x = shl.i32 %a, %n
  %y = shl.i32 %b, %n
  %u = max_s.i32 %x, %y
  %z = shr_u.i32 %u, %n
  %v = max_s.i32 %a, %b
  %h = const.i32 -65536
  %w = and.i32 %v, %h
  %r = or.i32 %z, %w
  store %r, %out[%i]
  ret
}
; check: max_s.i16x2
; never: shl

kernel @saturated_difference(%a_in: in i8x4, %b_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.ge_u.i8x4 %a, %b
  %m = mask_expand.i8x4 %c
  %n = bitcast.i32 %m
  %d = sub.i8x4 %a, %b
  %s = bitcast.i32 %d
  %r = and.i32 %s, %n
  store %r, %out[%i]
  ret
}
; check: sub_sat_u.i8x4
; rule: lanes_of_words

kernel @saturated_sum(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i8x4 %a, %b
  %x = xor.i8x4 %s, %a
  %y = xor.i8x4 %s, %b
  %o = and.i8x4 %x, %y
  %z = const.i8x4 0
  %c = icmp.lt_s.i8x4 %o, %z
  %d = icmp.lt_s.i8x4 %a, %z
  %m = mask_expand.i8x4 %d
  %w = bitcast.i32 %m
  %l = const.i32 0x7f7f7f7f
  %v = xor.i32 %w, %l
  %u = bitcast.i8x4 %v
  %r = select.i8x4 %c, %u, %s
  store %r, %out[%i]
  ret
}
; check: add_sat_s.i8x4
; never: xor
; rule: lanes_of_words

kernel @signed_distance(%a_in: in i32, %b_in: in i32, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = const.i32 0x80808080
  %x = xor.i32 %a, %s
  %y = xor.i32 %b, %s
  %p = bitcast.i8x4 %x
  %q = bitcast.i8x4 %y
  %r = absdiff_u.i8x4 %p, %q
  store %r, %out[%i]
  ret
}
; check: absdiff_s.i8x4
; never: xor
; rule: lanes_of_words

kernel @total(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %h = const.i32 0xff00ff00
  %u = and.i32 %a, %h
  %e = const.i32 8
  %p = shr_u.i32 %u, %e
  %l = const.i32 0x00ff00ff
  %q = and.i32 %a, %l
  %s = add.i32 %p, %q
  %n = const.i32 16
  %x = shr_u.i32 %s, %n
  %m = const.i32 511
  %y = and.i32 %s, %m
  %r = add.i32 %x, %y
  store %r, %out[%i]
  ret
}
; check: reduce_add_u.i8x4
; never: shr_u

; A mask that is one bit off.
kernel @other_mask(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f3f
  %s = const.i32 0x80808080
  %p = and.i32 %a, %l
  %q = and.i32 %b, %l
  %w = add.i32 %p, %q
  %x = xor.i32 %a, %b
  %y = and.i32 %x, %s
  %r = xor.i32 %w, %y
  store %r, %out[%i]
  ret
}
; check: add.i32
; no rule: lanes_of_words

; The sum of words carries from lane to lane.
kernel @carries(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = const.i32 0x80808080
  %w = add.i32 %a, %b
  %x = xor.i32 %a, %b
  %y = and.i32 %x, %s
  %r = xor.i32 %w, %y
  store %r, %out[%i]
  ret
}
; check: add.i32
; no rule: lanes_of_words

; The carry into another bit.
kernel @other_carry(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = xor.i32 %a, %b
  %t = add.i32 %a, %b
  %y = xor.i32 %x, %t
  %k = const.i32 131072
  %c = and.i32 %y, %k
  %r = sub.i32 %t, %c
  %d = sub.i32 %a, %b
  %e = xor.i32 %x, %d
  %f = and.i32 %e, %k
  %g = add.i32 %d, %f
  %h = xor.i32 %r, %g
  store %r, %out[%i]
  ret
}
; check: sub.i32
; no rule: lanes_of_words

; Another function of the carry.
kernel @other_signs(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %l = const.i32 0x7f7f7f7f
  %n = not.i32 %b
  %p = and.i32 %a, %l
  %q = and.i32 %n, %l
  %w = add.i32 %p, %q
  %d = and.i32 %w, %b
  %e = xor.i32 %w, %d
  %f = xor.i32 %e, %a
  %g = and.i32 %w, %a
  %h = xor.i32 %f, %g
  %j = and.i32 %a, %b
  %v = or.i32 %h, %j
  %z = const.i8x4 0
  %k = bitcast.i8x4 %v
  %c = icmp.lt_s.i8x4 %k, %z
  %m = mask_expand.i8x4 %c
  %t = bitcast.i32 %m
  %s = const.i32 0x80808080
  %u = and.i32 %v, %s
  %o = const.i32 7
  %y = shr_u.i32 %u, %o
  %r = xor.i32 %t, %y
  store %r, %out[%i]
  ret
}
; no rule: signs_of_lanes, truths_of_lanes

; The mask of other lanes.
kernel @other_lanes(%a_in: in i8x4, %b_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.ge_u.i8x4 %b, %a
  %m = mask_expand.i8x4 %c
  %n = bitcast.i32 %m
  %d = sub.i8x4 %a, %b
  %s = bitcast.i32 %d
  %x = and.i32 %s, %n
  %k = not.i32 %x
  %y = and.i32 %k, %s
  %r = or.i32 %x, %y
  store %r, %out[%i]
  ret
}
; no rule: lanes_of_words

; The bound of the other operand, and a sign that is not inverted.
kernel @other_bound(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = sub.i8x4 %a, %b
  %x = xor.i8x4 %s, %a
  %y = xor.i8x4 %a, %b
  %o = and.i8x4 %x, %y
  %z = const.i8x4 0
  %c = icmp.lt_s.i8x4 %o, %z
  %d = icmp.lt_s.i8x4 %b, %z
  %m = mask_expand.i8x4 %d
  %w = bitcast.i32 %m
  %l = const.i32 0x7f7f7f7f
  %v = xor.i32 %w, %l
  %u = bitcast.i8x4 %v
  %e = select.i8x4 %c, %u, %s
  %k = const.i8x4 -128
  %f = xor.i8x4 %e, %k
  %r = absdiff_u.i8x4 %f, %b
  store %r, %out[%i]
  ret
}
; no rule: lanes_of_words
