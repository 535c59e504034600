; test: refuse halu
; What items meet by, which HALU has not.
kernel @groups(%x: inout i32) {
  shared %s: i32[64]
  scratch %t: i32[8]
^entry:
  %l = local_id
  %all = const.i32 -1
  store %l, %s[%l]
  barrier
  %a = atomic_add %l, %x[0]
  fence.acq_rel.device
  %m = active_mask
  ret
}
;= shared %s: i32[64]
;=     halu cannot do this: `%s`: it has no `shared` memory
;= scratch %t: i32[8]
;=     halu cannot do this: `%t`: it has no `scratch` memory
;= barrier
;=     halu cannot do `barrier`: its items do not meet
;= %a = atomic_add %l, %x[0]
;=     halu cannot do `atomic_add.i32`: it has no atomic access to memory
;= fence.acq_rel.device
;=     halu cannot do `fence`: its items do not meet
;= %m = active_mask
;=     halu cannot do `active_mask`: its items do not meet
