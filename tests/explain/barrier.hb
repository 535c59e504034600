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
;=   items of a group meet here: it stays one op, and no access to memory is moved across it
;=
;= passes
;=   none changes it
;=
;= selection
;=   barrier
;=     by meet_barrier (isel/rules/threads/meet.isle:4), priority 0: inst @ (Barrier _ _)
;=     0003  0x0000000000000000000000000000781d  BAR.SYNC 0x0 ;
