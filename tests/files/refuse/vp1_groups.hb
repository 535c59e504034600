; test: refuse vp1
; What items meet by, which VP1 has not.
kernel @groups(%x: inout i32) {
  scratch %t: i32[8]
^entry:
  %i = item_id
  barrier
  %a = atomic_add %i, %x[0]
  %s = lane_id
  ret
}
;= scratch %t: i32[8]
;=     vp1 cannot do this: this target has no `scratch` memory
;= barrier
;=     vp1 cannot do `barrier`: work items cannot synchronise on this target
;= %a = atomic_add %i, %x[0]
;=     vp1 cannot do `atomic_add.i32`: work items cannot synchronise on this target
