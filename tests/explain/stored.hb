; explain: 8 halu
; An op without a value, by its line.
kernel @k(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  ; The store:
  store %a, %y[%i]
  ret
}
;= store %a, %y[%i]
;=   case.hb:8:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   store %a, %y[%i]
;=     by store_at_index (isel/rules/threads/memory.isle:15), priority 0: (StoreIndexed (stored ty) mem value base i)
;=     0005  0x00000000000000010000000000007486  STG [R0.U32+UR0], R1 ;
