; test: lower passes=if_convert,merge
; What items do when they meet stays as it is, and where it is.

; A side on which items meet stays a side, and so does one with an atomic access.
kernel @a_side_with_a_vote(%y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %all = const.i32 -1
  %c = icmp.eq.i32 %l, %zero
  br_if %c, ^then, ^join(%zero)
^then:
  %m = active_mask
  br ^join(%m)
^join(%r: i32):
  store %r, %y[%l]
  ret
}
;= kernel @a_side_with_a_vote(%y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %all = const.i32 -1
;=   %c = icmp.eq.i32 %l, %zero
;=   br_if %c, ^then, ^join(%zero)
;= ^then:
;=   %m = active_mask
;=   br ^join(%m)
;= ^join(%r: i32):
;=   store %r, %y[%l]
;=   ret
;= }

kernel @a_side_with_an_atomic(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %c = icmp.eq.i32 %l, %zero
  br_if %c, ^then, ^join(%zero)
^then:
  %m = atomic_add %l, %x[0]
  br ^join(%m)
^join(%r: i32):
  store %r, %y[%l]
  ret
}
;= kernel @a_side_with_an_atomic(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %c = icmp.eq.i32 %l, %zero
;=   br_if %c, ^then, ^join(%zero)
;= ^then:
;=   %m = atomic_add %l, %x
;=   br ^join(%m)
;= ^join(%r: i32):
;=   store %r, %y[%l]
;=   ret
;= }
