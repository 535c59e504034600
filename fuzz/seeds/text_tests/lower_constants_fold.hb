; test: lower halu
; What is known is computed, what is unused goes, and what is the same is computed once.
kernel @fold(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = const.i32 6
  %b = const.i32 7
  %c = mul.i32 %a, %b
  %unused = add.i32 %c, %a
  %v = load %x[%i]
  %p = add.i32 %c, %v
  %q = add.i32 %v, %c
  %r = xor.i32 %p, %q
  %s = or.i32 %r, %v
  store %s, %y[%i]
  ret
}
;= kernel @fold(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   store %v, %y[%i]
;=   ret
;= }
