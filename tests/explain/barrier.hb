; explain: 6 halu
kernel @k(%y: out i32) {
  shared %s: i32[64]
^entry:
  %i = local_id
  barrier
  %v = load %s[%i]
  store %v, %y[%i]
  ret
}
;= barrier
;=   case.hb:6:3, @k, for halu
;=   collective operation of a group: it stays one op, and no memory access moves across it
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   barrier
;=     by meet_barrier (isel/rules/threads/meet.isle:4), priority 0: inst @ (Barrier _ _)
;=     0003  0x0000000000000000000000000000781d  BAR.SYNC 0x0 ;
