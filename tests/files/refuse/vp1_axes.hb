; test: refuse vp1
; Items are along x alone.
kernel @row(%x: in i8, %y: out i8) {
^entry:
  %i = item_id.x
  %r = item_id.y
  %c = group_count
  %s = add.i32 %r, %c
  %b = trunc.i8 %s
  %a = load %x[%i]
  %v = add.i8 %a, %b
  store %v, %y[%i]
  ret
}
;= %r = item_id.y
;=     vp1 cannot do `item_id`: launches of this target are one-dimensional, so there is no `item_id.y`
;= %c = group_count
;=     vp1 cannot do `group_count`: this target has no groups of work items
