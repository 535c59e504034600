; test: lower vp1 passes=dce
; Where no item lets another know of anything, a fence orders nothing, and a target that has none does without.
kernel @alone(%x: inout i32) {
^entry:
  %l = local_id
  store %l, %x[%l]
  fence.seq_cst.device
  ret
}
;= kernel @alone(%x: inout i32) {
;= ^entry:
;=   %l = local_id
;=   store %l, %x[%l]
;=   ret
;= }

; Beside what lets others know it stays, and is refused later.
kernel @among_others(%x: inout i32) {
^entry:
  %l = local_id
  store %l, %x[%l]
  fence.seq_cst.device
  atomic_add %l, %x[%l]
  ret
}
;= kernel @among_others(%x: inout i32) {
;= ^entry:
;=   %l = local_id
;=   store %l, %x[%l]
;=   fence.seq_cst.device
;=   atomic_add %l, %x[%l]
;=   ret
;= }
