; test: lower passes=licm
; What items do when they meet stays as it is, and where it is.

; Nothing that items meet at leaves a loop, though it is the same in every iteration; what is computed of it does not either.
kernel @in_a_loop(%n: i32, %x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = subgroup_shuffle.i32 %l, %one, %c, %all
  %b = mul.i32 %a, %n
  %d = active_mask
  %e = load %s[%l]
  barrier
  %f = atomic_add %one, %x[0]
  %m = mul.i32 %n, %n
  %t = add.i32 %b, %d
  %u = add.i32 %e, %f
  %v = add.i32 %t, %u
  %w = add.i32 %v, %m
  %next = add.i32 %sum, %w
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @in_a_loop(%n: i32, %x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   %m = mul.i32 %n, %n
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %a = subgroup_shuffle.i32 %l, %one, %c, %all
;=   %b = mul.i32 %a, %n
;=   %d = active_mask
;=   %e = load %s[%l]
;=   barrier
;=   %f = atomic_add %one, %x
;=   %t = add.i32 %b, %d
;=   %u = add.i32 %e, %f
;=   %v = add.i32 %t, %u
;=   %w = add.i32 %v, %m
;=   %next = add.i32 %sum, %w
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %next), ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }
