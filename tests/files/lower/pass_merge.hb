; test: lower passes=merge
; A straight line.
kernel @a_straight_line(%y: out i32) {
^entry:
  %i = item_id
  br ^one(%i)
^one(%p: i32):
  %a = add.i32 %p, %i
  br ^two(%a, %p)
^two(%q: i32, %r: i32):
  store %q, %y[%r]
  ret
}
;= kernel @a_straight_line(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = add.i32 %i, %i
;=   store %a, %y[%i]
;=   ret
;= }

; test: lower passes=fold,merge,dce
; After a folded branch.
kernel @after_a_folded_branch(%y: out i32) {
^entry:
  %i = item_id
  %c = const.i1 1
  br_if %c, ^then, ^else
^then:
  br ^join(%i)
^else:
  br ^join(%i)
^join(%p: i32):
  store %p, %y[%i]
  ret
}
;= kernel @after_a_folded_branch(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   store %i, %y[%i]
;=   ret
;= }

; test: lower passes=merge
; A loop stays.
kernel @a_loop_stays(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  br ^loop(%i)
^loop(%k: i32):
  %s = add.i32 %k, %k
  %c = icmp.lt_u.i32 %s, %n
  br_if %c, ^loop(%s), ^done
^done:
  store %s, %y[%i]
  ret
}
;= kernel @a_loop_stays(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   br ^loop(%i)
;= ^loop(%k: i32):
;=   %s = add.i32 %k, %k
;=   %c = icmp.lt_u.i32 %s, %n
;=   br_if %c, ^loop(%s), ^done
;= ^done:
;=   store %s, %y[%i]
;=   ret
;= }
