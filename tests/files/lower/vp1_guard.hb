; test: lower vp1
; Items that take different ways take both: the load and the store on one of them have guards, and the value that goes on is
; selected.
kernel @some(%limit: i8x4, %x: in i8x4, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %m = icmp.gt_u.i8x4 %a, %limit
  %c = any.i1x4 %m
  br_if %c, ^yes, ^no
^yes:
  %b = load %y[%i]
  %s = add_sat_u.i8x4 %a, %b
  store %s, %y[%i]
  br ^no
^no:
  ret
}
; run: halu, vp1: @some items=1003 limit=200 x=random(1003, 3) y=random(1003, 4)
;= kernel @some(%limit: i8x4, %x: in i8x4, %y: inout i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_1: in i8x16 of %y, 4 bytes at 4 * item, guard %y_1_guard
;=   stream %y_1_guard: out i8x16, 4 bytes
;=   stream %y_3: out i8x16 of %y, 4 bytes at 4 * item, guard %y_3_guard
;=   stream %y_3_guard: out i8x16, 4 bytes
;= ^entry:
;=   %0 = item_id
;=   %1 = concat.i8x16 %limit, %limit, %limit, %limit
;=   %a = load %x_0[%0]
;=   %m = icmp.gt_u.i8x16 %a, %1
;=   %2 = mask_expand.i8x16 %m
;=   %3 = split.i32 %2, 0
;=   %4 = const.i32 0
;=   %5 = icmp.ne.i32 %3, %4
;=   %6 = split.i32 %2, 1
;=   %7 = icmp.ne.i32 %6, %4
;=   %8 = split.i32 %2, 2
;=   %9 = icmp.ne.i32 %8, %4
;=   %10 = split.i32 %2, 3
;=   %11 = icmp.ne.i32 %10, %4
;=   %12 = mask_expand.i32 %5
;=   %13 = mask_expand.i32 %7
;=   %14 = mask_expand.i32 %9
;=   %15 = mask_expand.i32 %11
;=   %16 = concat.i8x16 %12, %13, %14, %15
;=   store %16, %y_1_guard[%0]
;=   %b = load %y_1[%0]
;=   %s = add_sat_u.i8x16 %a, %b
;=   store %16, %y_3_guard[%0]
;=   store %s, %y_3[%0]
;=   ret
;= }
