; test: lower ptx passes=axes
; A subgroup is 32 items, numbered as in the group: where a target has no numbers of subgroups, they are computed.
kernel @subgroups(%y: out i32) {
^entry:
  %i = item_id
  %a = subgroup_id
  %b = lane_id
  %c = add.i32 %a, %b
  store %c, %y[%i]
  ret
}
;= kernel @subgroups(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %0 = local_id
;=   %1 = const.i32 5
;=   %a = shr_u.i32 %0, %1
;=   %b = lane_id
;=   %c = add.i32 %a, %b
;=   store %c, %y[%i]
;=   ret
;= }
