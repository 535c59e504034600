; test: lower ptx passes=swar_add,dce
; Bytes as half-words: their sums and differences never leave the lanes, once a number is added to both.
kernel @butterfly(%a: in i8x4, %b: in i8x4, %y: out i16x2, %z: out i16x2) {
^entry:
  %i = item_id
  %zero = const.i8x4 0
  %a0 = load %a[%i]
  %b0 = load %b[%i]
  %a1 = shuffle.i8x4 %a0, %zero, [0, 4, 1, 4]
  %a2 = bitcast.i16x2 %a1
  %b1 = shuffle.i8x4 %b0, %zero, [0, 4, 1, 4]
  %b2 = bitcast.i16x2 %b1
  %d = sub.i16x2 %a2, %b2
  %s = add.i16x2 %a2, %b2
  %e = sub.i16x2 %d, %s
  %f = shuffle.i16x2 %d, %e, [0, 3]
  %g = abs.i16x2 %f
  store %e, %y[%i]
  store %g, %z[%i]
  ret
}
;= kernel @butterfly(%a: in i8x4, %b: in i8x4, %y: out i16x2, %z: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i8x4 0
;=   %a0 = load %a[%i]
;=   %b0 = load %b[%i]
;=   %a1 = shuffle.i8x4 %a0, %zero, [0, 4, 1, 4]
;=   %a2 = bitcast.i16x2 %a1
;=   %b1 = shuffle.i8x4 %b0, %zero, [0, 4, 1, 4]
;=   %b2 = bitcast.i16x2 %b1
;=   %0 = bitcast.i32 %a2
;=   %1 = bitcast.i32 %b2
;=   %2 = sub.i32 %0, %1
;=   %3 = const.i32 16711935
;=   %4 = add.i32 %2, %3
;=   %5 = add.i32 %0, %1
;=   %6 = sub.i32 %4, %5
;=   %7 = const.i32 33423870
;=   %8 = add.i32 %6, %7
;=   %9 = bitcast.i16x2 %8
;=   %10 = const.i16x2 -765
;=   %e = add.i16x2 %9, %10
;=   %11 = const.i32 33423870
;=   %12 = add.i32 %4, %11
;=   %13 = bitcast.i16x2 %12
;=   %14 = bitcast.i16x2 %8
;=   %15 = shuffle.i16x2 %13, %14, [0, 3]
;=   %16 = bitcast.i32 %15
;=   %17 = const.i16x2 765
;=   %18 = bitcast.i16x2 %16
;=   %19 = max_u.i16x2 %18, %17
;=   %20 = bitcast.i32 %19
;=   %21 = min_u.i16x2 %18, %17
;=   %22 = bitcast.i32 %21
;=   %23 = sub.i32 %20, %22
;=   %g = bitcast.i16x2 %23
;=   store %e, %y[%i]
;=   store %g, %z[%i]
;=   ret
;= }

; What may be anything may borrow.
kernel @anything(%a: in i16x2, %b: in i16x2, %y: out i16x2) {
^entry:
  %i = item_id
  %a0 = load %a[%i]
  %b0 = load %b[%i]
  %d = sub.i16x2 %a0, %b0
  store %d, %y[%i]
  ret
}
;= kernel @anything(%a: in i16x2, %b: in i16x2, %y: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a0 = load %a[%i]
;=   %b0 = load %b[%i]
;=   %d = sub.i16x2 %a0, %b0
;=   store %d, %y[%i]
;=   ret
;= }
