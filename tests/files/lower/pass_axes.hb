; test: lower ptx passes=axes
; A kernel that names y is for launches along it: the numbers over all axes are computed.
kernel @over_all_axes(%y: out i32) {
^entry:
  %i = item_id
  %r = item_id.y
  %l = local_id
  %g = group_id
  store %r, %y[%i]
  store %l, %y[%i + 1]
  store %g, %y[%i + 2]
  ret
}
;= kernel @over_all_axes(%y: out i32) {
;= ^entry:
;=   %0 = item_id.z
;=   %1 = group_size.y
;=   %2 = mul.i32 %1, %0
;=   %3 = group_count.y
;=   %4 = mul.i32 %3, %2
;=   %5 = item_id.y
;=   %6 = add.i32 %5, %4
;=   %7 = group_size.x
;=   %8 = mul.i32 %7, %6
;=   %9 = group_count.x
;=   %10 = mul.i32 %9, %8
;=   %11 = item_id.x
;=   %i = add.i32 %11, %10
;=   %r = item_id.y
;=   %12 = local_id.z
;=   %13 = group_size.y
;=   %14 = mul.i32 %13, %12
;=   %15 = local_id.y
;=   %16 = add.i32 %15, %14
;=   %17 = group_size.x
;=   %18 = mul.i32 %17, %16
;=   %19 = local_id.x
;=   %l = add.i32 %19, %18
;=   %20 = group_id.z
;=   %21 = group_count.y
;=   %22 = mul.i32 %21, %20
;=   %23 = group_id.y
;=   %24 = add.i32 %23, %22
;=   %25 = group_count.x
;=   %26 = mul.i32 %25, %24
;=   %27 = group_id.x
;=   %g = add.i32 %27, %26
;=   store %r, %y[%i]
;=   store %l, %y[%i + 1]
;=   store %g, %y[%i + 2]
;=   ret
;= }

; test: lower ptx passes=axes
kernel @counts(%y: out i32) {
^entry:
  %i = item_id.z
  %s = group_size
  %c = group_count
  %n = item_count
  store %s, %y[%i]
  store %c, %y[%i + 1]
  store %n, %y[%i + 2]
  ret
}
;= kernel @counts(%y: out i32) {
;= ^entry:
;=   %i = item_id.z
;=   %0 = group_size.x
;=   %1 = group_size.y
;=   %2 = mul.i32 %0, %1
;=   %3 = group_size.z
;=   %s = mul.i32 %2, %3
;=   %4 = group_count.x
;=   %5 = group_count.y
;=   %6 = mul.i32 %4, %5
;=   %7 = group_count.z
;=   %c = mul.i32 %6, %7
;=   %8 = group_size.x
;=   %9 = group_size.y
;=   %10 = mul.i32 %8, %9
;=   %11 = group_size.z
;=   %12 = group_count.x
;=   %13 = group_count.y
;=   %14 = mul.i32 %12, %13
;=   %15 = group_count.z
;=   %16 = mul.i32 %10, %11
;=   %17 = mul.i32 %14, %15
;=   %n = mul.i32 %16, %17
;=   store %s, %y[%i]
;=   store %c, %y[%i + 1]
;=   store %n, %y[%i + 2]
;=   ret
;= }

; test: lower ptx passes=axes
; One that names x alone is for launches along x, where that is the same.
kernel @along_x(%y: out i32) {
^entry:
  %i = item_id
  %x = item_id.x
  %l = local_id
  %v = add.i32 %x, %l
  store %v, %y[%i]
  ret
}
;= kernel @along_x(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %x = item_id.x
;=   %l = local_id
;=   %v = add.i32 %x, %l
;=   store %v, %y[%i]
;=   ret
;= }

; test: lower halu passes=axes
; The machine has all numbers.
kernel @all_there(%y: out i32) {
^entry:
  %i = item_id
  %r = item_id.y
  store %r, %y[%i]
  ret
}
;= kernel @all_there(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %r = item_id.y
;=   store %r, %y[%i]
;=   ret
;= }

; test: lower vp1 passes=axes
; All items are along x.
kernel @only_x(%y: out i32) {
^entry:
  %i = item_id.x
  store %i, %y[%i]
  ret
}
;= kernel @only_x(%y: out i32) {
;= ^entry:
;=   %i = item_id
;=   store %i, %y[%i]
;=   ret
;= }
