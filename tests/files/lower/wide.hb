; test: lower halu passes=canon,gvn,widen,dce
; Neighbours whose indices are scaled alike become one access; a constant index is part of the offset; and a wide load is not one
; that wraps.
kernel @k(%i: i32, %x: in i32 align 16, %y: out i32 align 16) {
^entry:
  %item = item_id
  %four = const.i32 4
  %j = mul.i32 %item, %four
  %a = load %x[%j wide]
  %b = load %x[%j wide + 1]
  %c = load %x[%four wide + 1]
  %d = load %x[%j]
  store %a, %y[%j wide]
  store %b, %y[%j wide + 1]
  store %c, %y[%j wide + 2]
  store %d, %y[%j wide + 3]
  ret
}
;= kernel @k(%i: i32, %x: in i32 align 16, %y: out i32 align 16) {
;= ^entry:
;=   %item = item_id
;=   %four = const.i32 4
;=   %j = mul.i32 %item, %four
;=   %0 = load.i64 %x[%j wide]
;=   %a = split.i32 %0, 0
;=   %b = split.i32 %0, 1
;=   %c = load %x[5]
;=   %d = load %x[%j]
;=   %1 = concat.i8x16 %a, %b, %c, %d
;=   store.i8x16 %1, %y[%j wide]
;=   ret
;= }
