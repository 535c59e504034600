; test: lower passes=canon
; Constants stand right.
kernel @constants_stand_right(%y: out i32) {
^entry:
  %i = item_id
  %k = const.i32 5
  %a = add.i32 %k, %i
  %c = icmp.lt_u.i32 %k, %a
  br_if %c, ^then, ^else
^then:
  store %a, %y[%i]
  ret
^else:
  ret
}
;= kernel @constants_stand_right(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %k = const.i32 5
;=   %a = add.i32 %i, %k
;=   %c = icmp.gt_u.i32 %a, %k
;=   br_if %c, ^then, ^else
;= ^then:
;=   store %a, %y[%i]
;=   ret
;= ^else:
;=   ret
;= }

; test: lower passes=canon,dce
; Rules apply to what rules make.
kernel @rules_apply_to_what_rules_make(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %m = const.i32 -1
  %n = mul.i32 %a, %m
  %z = const.i32 0
  %b = sub.i32 %z, %n
  %s = add.i32 %b, %z
  store %s, %y[%i]
  ret
}
;= kernel @rules_apply_to_what_rules_make(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   store %a, %y[%i]
;=   ret
;= }

; A branch on a complement.
kernel @a_branch_on_a_complement(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  %d = icmp.eq.i32 %a, %a
  %e = xor.i1 %c, %d
  %n = not.i1 %e
  %m = not.i1 %n
  %o = not.i1 %m
  br_if %o, ^then, ^else
^then:
  store %a, %y[%i]
  ret
^else:
  ret
}
;= kernel @a_branch_on_a_complement(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %o = icmp.eq.i32 %a, %i
;=   br_if %o, ^then, ^else
;= ^then:
;=   store %a, %y[%i]
;=   ret
;= ^else:
;=   ret
;= }

; A branch to one place.
kernel @a_branch_to_one_place(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^next(%a), ^next(%a)
^next(%p: i32):
  store %p, %y[%i]
  ret
}
;= kernel @a_branch_to_one_place(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   br ^next(%a)
;= ^next(%p: i32):
;=   store %p, %y[%i]
;=   ret
;= }

; test: lower passes=canon
; Floats keep their zeros and NaN.
kernel @floats_keep_their_zeros_and_nan(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = const.f16x2 -0.0
  %o = const.f16x2 1.0
  %b = fadd.f16x2 %a, %z
  %c = fmul.f16x2 %b, %o
  %d = fneg.f16x2 %c
  %e = fneg.f16x2 %d
  store %e, %y[%i]
  ret
}
;= kernel @floats_keep_their_zeros_and_nan(%x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %z = const.f16x2 -0.0
;=   %o = const.f16x2 1.0
;=   %b = fadd.f16x2 %a, %z
;=   %c = fmul.f16x2 %b, %o
;=   %d = fneg.f16x2 %c
;=   store %c, %y[%i]
;=   ret
;= }

; test: lower passes=canon,merge
; A store that traps, by an address that turns out to be the buffer's own.
kernel @a_store_that_traps_by_an_address_that_turns_out_to_be_the_buffer_s_own(%x: in i32, %s: i32) {
^entry:
  %i = item_id
  %z = const.i64 0
  %p = ptr_add %x, %z
  store.i32 %s, %p[%i]
  br ^next(%p)
^next(%q: ptr):
  store.i32 %s, %q[%i + 1]
  ret
}
;= kernel @a_store_that_traps_by_an_address_that_turns_out_to_be_the_buffer_s_own(%x: in i32, %s: i32) {
;= ^entry:
;=   %i = item_id
;=   %z = const.i64 0
;=   store %s, %x[%i]
;=   store %s, %x[%i + 1]
;=   ret
;= }

; test: lower passes=canon,dce
; A constant index is part of the offset; one that is too large stays.
kernel @a_constant_index_is_part_of_the_offset_one_that_is_too_large_stays(%x: in i32, %y: out i16) {
^entry:
  %i = item_id
  %three = const.i32 3
  %all = const.i32 -1
  %half = const.i32 0x20000000
  %a = load %x[%three]
  %b = load %x[%three + 2]
  %c = load %x[%half]
  %d = load %x[%all]
  %e = load.i32 %y[%all - 1] align 2
  %s = trunc.i16 %a
  store %s, %y[%three]
  store %s, %y[%i + 1]
  ret
}
;= kernel @a_constant_index_is_part_of_the_offset_one_that_is_too_large_stays(%x: in i32, %y: out i16) {
;= ^entry:
;=   %i = item_id
;=   %all = const.i32 -1
;=   %half = const.i32 536870912
;=   %a = load %x[3]
;=   %b = load %x[5]
;=   %c = load %x[%half]
;=   %d = load %x[%all]
;=   %e = load.i32 %y[%all - 1]
;=   %s = trunc.i16 %a
;=   store %s, %y[3]
;=   store %s, %y[%i + 1]
;=   ret
;= }
