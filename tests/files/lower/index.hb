; test: lower ptx passes=index,dce
; Where the range of an index shows that no product reaches 2^32, it is scaled in 64 bits, which PTX would rather; else it stays.
kernel @masked(%t: in i8x4, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %x0 = load %x[%i]
  %m = const.i32 255
  %j = and.i32 %x0, %m
  %a = load %t[%j + 1]
  %b = bitcast.i32 %a
  %w = load %x[%x0]
  %r = add.i32 %b, %w
  store %r, %y[%i]
  ret
}
;= kernel @masked(%t: in i8x4, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %x0 = load %x[%i]
;=   %m = const.i32 255
;=   %j = and.i32 %x0, %m
;=   %a = load %t[%j wide + 1]
;=   %b = bitcast.i32 %a
;=   %w = load %x[%x0]
;=   %r = add.i32 %b, %w
;=   store %r, %y[%i]
;=   ret
;= }

; A counter below a parameter: below 2^31 steps of two bytes, and more of four.
kernel @counted(%n: i32, %t: in i16, %u: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = load %t[%k]
  %b = load %u[%k]
  %e = zext.i32 %a
  %f = add.i32 %e, %b
  %next_sum = add.i32 %sum, %f
  %next = add.i32 %k, %one
  %more = icmp.lt_s.i32 %next, %n
  br_if %more, ^loop(%next, %next_sum), ^done
^done:
  store %next_sum, %y[%i]
  ret
}
;= kernel @counted(%n: i32, %t: in i16, %u: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %a = load %t[%k wide]
;=   %b = load %u[%k]
;=   %e = zext.i32 %a
;=   %f = add.i32 %e, %b
;=   %next_sum = add.i32 %sum, %f
;=   %next = add.i32 %k, %one
;=   %more = icmp.lt_s.i32 %next, %n
;=   br_if %more, ^loop(%next, %next_sum), ^done
;= ^done:
;=   store %next_sum, %y[%i]
;=   ret
;= }

; A counter that may step beyond the signed numbers is anything.
kernel @far(%n: i32, %t: in i8, %y: out i32) {
^entry:
  %i = item_id
  %start = const.i32 2147483647
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%start, %zero)
^loop(%k: i32, %sum: i32):
  %a = load %t[%k]
  %e = zext.i32 %a
  %next_sum = add.i32 %sum, %e
  %next = add.i32 %k, %one
  %more = icmp.lt_s.i32 %next, %n
  br_if %more, ^loop(%next, %next_sum), ^done
^done:
  store %next_sum, %y[%i]
  ret
}
;= kernel @far(%n: i32, %t: in i8, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %start = const.i32 2147483647
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%start, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %a = load %t[%k]
;=   %e = zext.i32 %a
;=   %next_sum = add.i32 %sum, %e
;=   %next = add.i32 %k, %one
;=   %more = icmp.lt_s.i32 %next, %n
;=   br_if %more, ^loop(%next, %next_sum), ^done
;= ^done:
;=   store %next_sum, %y[%i]
;=   ret
;= }
