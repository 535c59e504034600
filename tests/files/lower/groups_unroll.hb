; test: lower passes=unroll
; What items do when they meet stays as it is, and where it is.

; A loop of four iterations stays one where items meet in it, or access memory in one step.
kernel @barrier_in_a_loop(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  barrier
  %next = add.i32 %sum, %l
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @barrier_in_a_loop(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %four = const.i32 4
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   barrier
;=   %next = add.i32 %sum, %l
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %four
;=   br_if %more, ^loop(%k1, %next), ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }

kernel @shuffle_in_a_loop(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = subgroup_shuffle.i32 %l, %one, %c, %all
  %next = add.i32 %sum, %a
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @shuffle_in_a_loop(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %four = const.i32 4
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %a = subgroup_shuffle.i32 %l, %one, %c, %all
;=   %next = add.i32 %sum, %a
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %four
;=   br_if %more, ^loop(%k1, %next), ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }

kernel @atomic_in_a_loop(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = atomic_add %one, %x[0]
  %next = add.i32 %sum, %a
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @atomic_in_a_loop(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %four = const.i32 4
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %a = atomic_add %one, %x
;=   %next = add.i32 %sum, %a
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %four
;=   br_if %more, ^loop(%k1, %next), ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }

kernel @fence_in_a_loop(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  fence.acq_rel.group
  %next = add.i32 %sum, %l
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @fence_in_a_loop(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %four = const.i32 4
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   fence.acq_rel.group
;=   %next = add.i32 %sum, %l
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %four
;=   br_if %more, ^loop(%k1, %next), ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }

; And one in which they do not is unrolled.
kernel @nothing_in_a_loop(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %all = const.i32 -1
  %c = const.i32 31
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = load %x[%k]
  %next = add.i32 %sum, %a
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1, %next), ^end
^end:
  store %next, %y[%l]
  ret
}
;= kernel @nothing_in_a_loop(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %four = const.i32 4
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   br ^0
;= ^0:
;=   %0 = load %x[%zero]
;=   %1 = add.i32 %zero, %0
;=   %2 = const.i32 1
;=   %3 = const.i1 1
;=   br ^1
;= ^1:
;=   %4 = load %x[%2]
;=   %5 = add.i32 %1, %4
;=   %6 = const.i32 2
;=   %7 = const.i1 1
;=   br ^2
;= ^2:
;=   %8 = load %x[%6]
;=   %9 = add.i32 %5, %8
;=   %10 = const.i32 3
;=   %11 = const.i1 1
;=   br ^loop
;= ^loop:
;=   %a = load %x[%10]
;=   %next = add.i32 %9, %a
;=   %k1 = const.i32 4
;=   %more = const.i1 0
;=   br ^end
;= ^end:
;=   store %next, %y[%l]
;=   ret
;= }
