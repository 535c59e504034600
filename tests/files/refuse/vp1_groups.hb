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
;=     vp1 cannot do this: work items that share vectors have no `scratch` memory
;= barrier
;=     vp1 cannot do `barrier`: work items that share vectors cannot synchronise
;= %a = atomic_add %i, %x[0]
;=     vp1 cannot do `atomic_add.i32`: work items that share vectors cannot synchronise
