; test: lower passes=dce
; Unused results go, loads stay.
kernel @unused_results_go_loads_stay(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i32 %i, %i
  %c = mul.i32 %b, %b
  store %i, %y[%i]
  ret
}
;= kernel @unused_results_go_loads_stay(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   store %i, %y[%i]
;=   ret
;= }

; Unreachable blocks.
kernel @unreachable_blocks(%y: out i32) {
^entry:
  %i = item_id
  br ^next
^lost(%p: i32):
  store %p, %y[%i]
  br ^lost(%p)
^next:
  store %i, %y[%i]
  ret
}
;= kernel @unreachable_blocks(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   br ^next
;= ^next:
;=   store %i, %y[%i]
;=   ret
;= }

; Parameters that feed only themselves.
kernel @parameters_that_feed_only_themselves(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %z = const.i32 0
  %one = const.i32 1
  br ^loop(%z, %z, %z)
^loop(%k: i32, %unused: i32, %sum: i32):
  %next = add.i32 %k, %one
  %u = add.i32 %unused, %k
  %s = add.i32 %sum, %k
  %c = icmp.lt_u.i32 %next, %n
  br_if %c, ^loop(%next, %u, %s), ^done(%u, %s)
^done(%v: i32, %r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @parameters_that_feed_only_themselves(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %z = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%z, %z)
;= ^loop(%k: i32, %sum: i32):
;=   %next = add.i32 %k, %one
;=   %s = add.i32 %sum, %k
;=   %c = icmp.lt_u.i32 %next, %n
;=   br_if %c, ^loop(%next, %s), ^done(%s)
;= ^done(%r: i32):
;=   store %r, %y[%i]
;=   ret
;= }
