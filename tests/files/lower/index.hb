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

; A constant in the sum of an index is part of the access, where the sum does not wrap: of a byte it does not.
kernel @plus(%t: in i8, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %b = load %t[%i]
  %z = zext.i32 %b
  %three = const.i32 3
  %j = add.i32 %z, %three
  %v = load %x[%j]
  %minus = const.i32 -1
  %k = add.i32 %z, %minus
  %w = load %x[%k]
  %l = add.i32 %v, %three
  %u = load %x[%l]
  %s = add.i32 %w, %u
  store %s, %y[%i]
  ret
}
;= kernel @plus(%t: in i8, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %b = load %t[%i]
;=   %z = zext.i32 %b
;=   %three = const.i32 3
;=   %v = load %x[%z wide + 3]
;=   %minus = const.i32 -1
;=   %k = add.i32 %z, %minus
;=   %w = load %x[%k]
;=   %l = add.i32 %v, %three
;=   %u = load %x[%l]
;=   %s = add.i32 %w, %u
;=   store %s, %y[%i]
;=   ret
;= }

; test: lower ptx block=16,16,1 passes=axes,fold,canon,index,dce
; Groups of one size: their counts are constants, numbers in them have ranges, and addresses in shared memory stay short.
kernel @tile(%x: in i32, %y: out i32) {
  shared %t: i32[300]
^entry:
  %u = local_id.x
  %v = local_id.y
  %n = group_size.x
  %one = const.i32 1
  %row = mul.i32 %v, %n
  %at = add.i32 %row, %u
  %a = load %x[%at]
  %next = add.i32 %at, %one
  store %a, %t[%next]
  barrier
  %b = load %t[%at]
  %all = group_size
  %z = local_id.z
  %r = add.i32 %b, %all
  %q = add.i32 %r, %z
  store %q, %y[%at]
  ret
}
;= kernel @tile(%x: in i32, %y: out i32) {
;=   shared %t: i32[300]
;= ^entry:
;=   %u = local_id.x
;=   %v = local_id.y
;=   %n = const.i32 16
;=   %row = mul.i32 %v, %n
;=   %at = add.i32 %row, %u
;=   %a = load %x[%at wide]
;=   store %a, %t[%at + 1]
;=   barrier
;=   %b = load %t[%at]
;=   %all = const.i32 256
;=   %r = add.i32 %b, %all
;=   store %r, %y[%at wide]
;=   ret
;= }
