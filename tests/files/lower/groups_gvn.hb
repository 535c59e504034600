; test: lower passes=gvn
; What items do when they meet stays as it is, and where it is.

; What another item may have stored is loaded again, behind whatever lets it be known.
kernel @loads_behind_a_barrier(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 -1
  %a = load %x[%l]
  %b = load %s[%l]
  barrier
  %c = load %x[%l]
  %d = load %s[%l]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%l]
  ret
}
;= kernel @loads_behind_a_barrier(%x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %a = load %x[%l]
;=   %b = load %s[%l]
;=   barrier
;=   %c = load %x[%l]
;=   %d = load %s[%l]
;=   %e = add.i32 %a, %b
;=   %f = add.i32 %c, %d
;=   %g = add.i32 %e, %f
;=   store %g, %y[%l]
;=   ret
;= }

; What another item may have stored is loaded again, behind whatever lets it be known.
kernel @loads_behind_a_fence(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 -1
  %a = load %x[%l]
  %b = load %s[%l]
  fence.acq_rel.device
  %c = load %x[%l]
  %d = load %s[%l]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%l]
  ret
}
;= kernel @loads_behind_a_fence(%x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %a = load %x[%l]
;=   %b = load %s[%l]
;=   fence.acq_rel.device
;=   %c = load %x[%l]
;=   %d = load %s[%l]
;=   %e = add.i32 %a, %b
;=   %f = add.i32 %c, %d
;=   %g = add.i32 %e, %f
;=   store %g, %y[%l]
;=   ret
;= }

; What another item may have stored is loaded again, behind whatever lets it be known.
kernel @loads_behind_a_subgroup_barrier(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 -1
  %a = load %x[%l]
  %b = load %s[%l]
  subgroup_barrier %all
  %c = load %x[%l]
  %d = load %s[%l]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%l]
  ret
}
;= kernel @loads_behind_a_subgroup_barrier(%x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %a = load %x[%l]
;=   %b = load %s[%l]
;=   subgroup_barrier %all
;=   %c = load %x[%l]
;=   %d = load %s[%l]
;=   %e = add.i32 %a, %b
;=   %f = add.i32 %c, %d
;=   %g = add.i32 %e, %f
;=   store %g, %y[%l]
;=   ret
;= }

; What another item may have stored is loaded again, behind whatever lets it be known.
kernel @loads_behind_an_atomic(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 -1
  %a = load %x[%l]
  %b = load %s[%l]
  atomic_add.acq_rel %one, %x[%l]
  %c = load %x[%l]
  %d = load %s[%l]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%l]
  ret
}
;= kernel @loads_behind_an_atomic(%x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %a = load %x[%l]
;=   %b = load %s[%l]
;=   atomic_add.acq_rel %one, %x[%l]
;=   %c = load %x[%l]
;=   %d = load %s[%l]
;=   %e = add.i32 %a, %b
;=   %f = add.i32 %c, %d
;=   %g = add.i32 %e, %f
;=   store %g, %y[%l]
;=   ret
;= }

; What another item may have stored is loaded again, behind whatever lets it be known.
kernel @loads_behind_a_relaxed_atomic(%x: inout i32, %y: out i32) {
  shared %s: i32[64]
^entry:
  %l = local_id
  %one = const.i32 1
  %all = const.i32 -1
  %a = load %x[%l]
  %b = load %s[%l]
  %t = atomic_load %x[%l]
  %c = load %x[%l]
  %d = load %s[%l]
  %e = add.i32 %a, %b
  %f = add.i32 %c, %d
  %g = add.i32 %e, %f
  store %g, %y[%l]
  ret
}
;= kernel @loads_behind_a_relaxed_atomic(%x: inout i32, %y: out i32) {
;=   shared %s: i32[64]
;= ^entry:
;=   %l = local_id
;=   %one = const.i32 1
;=   %all = const.i32 -1
;=   %a = load %x[%l]
;=   %b = load %s[%l]
;=   %t = atomic_load %x[%l]
;=   %c = load %x[%l]
;=   %d = load %s[%l]
;=   %e = add.i32 %a, %b
;=   %f = add.i32 %c, %d
;=   %g = add.i32 %e, %f
;=   store %g, %y[%l]
;=   ret
;= }

; Two of an op at which items meet are two, and so are atomic ones.
kernel @none_stands_for_another(%x: inout i32, %y: out i32) {
^entry:
  %l = local_id
  %all = const.i32 -1
  %c = const.i32 31
  %one = const.i32 1
  %a = subgroup_shuffle.i32 %l, %one, %c, %all
  %b = subgroup_shuffle.i32 %l, %one, %c, %all
  %d = active_mask
  %e = active_mask
  %f = atomic_add %one, %x[0]
  %g = atomic_add %one, %x[0]
  %h = add.i32 %a, %b
  %i = add.i32 %d, %e
  %j = add.i32 %f, %g
  %k = add.i32 %h, %i
  %m = add.i32 %k, %j
  store %m, %y[%l]
  ret
}
;= kernel @none_stands_for_another(%x: inout i32, %y: out i32) {
;= ^entry:
;=   %l = local_id
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   %one = const.i32 1
;=   %a = subgroup_shuffle.i32 %l, %one, %c, %all
;=   %b = subgroup_shuffle.i32 %l, %one, %c, %all
;=   %d = active_mask
;=   %e = active_mask
;=   %f = atomic_add %one, %x
;=   %g = atomic_add %one, %x
;=   %h = add.i32 %a, %b
;=   %i = add.i32 %d, %e
;=   %j = add.i32 %f, %g
;=   %k = add.i32 %h, %i
;=   %m = add.i32 %k, %j
;=   store %m, %y[%l]
;=   ret
;= }

; Arrays are not each other.
kernel @two_arrays(%y: out i32) {
  shared %a: i32[64]
  shared %b: i32[64]
^entry:
  %l = local_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %a, %b)
^loop(%k: i32, %from: ptr, %to: ptr):
  store.i32 %k, %to[%l]
  barrier
  %v = load.i32 %from[%l]
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %l
  br_if %more, ^loop(%k1, %to, %from), ^end
^end:
  store %v, %y[%l]
  ret
}
;= kernel @two_arrays(%y: out i32) {
;=   shared %a: i32[64]
;=   shared %b: i32[64]
;= ^entry:
;=   %l = local_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%zero, %a, %b)
;= ^loop(%k: i32, %from: ptr, %to: ptr):
;=   store.i32 %k, %to[%l]
;=   barrier
;=   %v = load.i32 %from[%l]
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %l
;=   br_if %more, ^loop(%k1, %to, %from), ^end
;= ^end:
;=   store %v, %y[%l]
;=   ret
;= }
