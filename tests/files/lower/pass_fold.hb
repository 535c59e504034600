; test: lower passes=fold,dce
; Constants alone.
kernel @constants_alone(%y: out i8x4) {
^entry:
  %i = item_id
  %a = const.i8x4 [250, 1, 2, 3]
  %b = const.i8x4 [10, 1, 1, 1]
  %s = add_sat_u.i8x4 %a, %b
  %n = neg.i8x4 %s
  store %n, %y[%i]
  ret
}
;= kernel @constants_alone(%y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %n = const.i8x4 [1, -2, -3, -4]
;=   store %n, %y[%i]
;=   ret
;= }

; Halves are folded exactly.
kernel @halves_are_folded_exactly(%y: out f16x2) {
^entry:
  %i = item_id
  %a = const.f16x2 [0x7c01, 65504]
  %b = const.f16x2 [1.0, 65504]
  %s = fadd.rz.f16x2 %a, %b
  store %s, %y[%i]
  ret
}
;= kernel @halves_are_folded_exactly(%y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %s = const.f16x2 [nan, 65504.0]
;=   store %s, %y[%i]
;=   ret
;= }

; A branch on a constant.
kernel @a_branch_on_a_constant(%y: out i32) {
^entry:
  %i = item_id
  %a = const.i32 3
  %b = const.i32 4
  %c = icmp.lt_s.i32 %a, %b
  br_if %c, ^then(%a), ^else
^then(%p: i32):
  store %p, %y[%i]
  ret
^else:
  store %b, %y[%i]
  ret
}
;= kernel @a_branch_on_a_constant(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = const.i32 3
;=   br ^then(%a)
;= ^then(%p: i32):
;=   store %p, %y[%i]
;=   ret
;= }

; A switch on a constant.
kernel @a_switch_on_a_constant(%y: out i32) {
^entry:
  %i = item_id
  %a = const.i32 7
  switch %a, ^other, [0: ^zero, 7: ^seven]
^zero:
  ret
^seven:
  store %a, %y[%i]
  ret
^other:
  store %i, %y[%i]
  ret
}
;= kernel @a_switch_on_a_constant(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = const.i32 7
;=   br ^seven
;= ^seven:
;=   store %a, %y[%i]
;=   ret
;= }

; A load at a known place of declared contents.
kernel @contents(%y: out i32, %z: out i16, %t: in i32 = [11, -2, 33], %u: in i16 = [7, 258]) {
^entry:
  %i = item_id
  %a = load %t[1]        ; check: const.i32 16908293
  %b = load.i8x4 %u
  %c = bitcast.i32 %b
  %d = add.i32 %a, %c
  %e = load %u[1]
  store %d, %y[%i]
  store %e, %z[%i]
  ret
}
; never: load %t

; Loads that are kept: at an index, behind the contents, before them, and of a buffer without contents.
kernel @no_contents(%y: out i32, %x: in i32, %t: in i32 = [11, -2, 33]) {
^entry:
  %i = item_id
  %a = load %t[%i]
  %b = load %t[3]
  %c = load %t[-1]
  %d = load %x[1]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%i]
  ret
}
; check-count-4: load

; A constant has no type `ptr`.
kernel @a_constant_address(%y: out i32) {
^entry:
  %i = item_id
  %a = const.i64 0
  %p = bitcast.ptr %a
  %b = load.i32 %p
  store %b, %y[%i]
  ret
}
;= kernel @a_constant_address(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = const.i64 0
;=   %p = bitcast.ptr %a
;=   %b = load.i32 %p
;=   store %b, %y[%i]
;=   ret
;= }
