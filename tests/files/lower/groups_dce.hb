; test: lower passes=dce
; What items do when they meet stays as it is, and where it is.

; An op at which items meet stays though nothing uses its result, and so does what it is given.
kernel @unused_results(%x: inout i32) {
^entry:
  %l = local_id
  %all = const.i32 -1
  %c = const.i32 31
  %zero = const.i32 0
  %p = icmp.eq.i32 %l, %zero
  %unused = add.i32 %l, %all
  %a = subgroup_shuffle.i32 %l, %zero, %c, %all
  %b = ballot %p, %all
  %d = barrier_count %p
  %e = elect %all
  atomic_add %l, %x[0]
  %f = atomic_load %x[0]
  fence.seq_cst.system
  ret
}
;= kernel @unused_results(%x: inout i32) {
;= ^entry:
;=   %l = local_id
;=   %all = const.i32 -1
;=   %c = const.i32 31
;=   %zero = const.i32 0
;=   %p = icmp.eq.i32 %l, %zero
;=   %a = subgroup_shuffle.i32 %l, %zero, %c, %all
;=   %b = ballot %p, %all
;=   %d = barrier_count %p
;=   %e = elect %all
;=   atomic_add %l, %x
;=   %f = atomic_load %x
;=   fence.seq_cst.system
;=   ret
;= }
