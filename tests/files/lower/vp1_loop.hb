; test: lower vp1
; A loop that all items take equally often stays one; its loads are one stream with as many steps.
kernel @rows(%rows: i32, %width: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %zero = const.i8x4 0
  br ^loop(%0, %i, %zero)
^loop(%k: i32, %at: i32, %most: i8x4):
  %a = load %x[%at]
  %next = max_u.i8x4 %most, %a
  %1 = const.i32 1
  %k1 = add.i32 %k, %1
  %at1 = add.i32 %at, %width
  %c = icmp.lt_s.i32 %k1, %rows
  br_if %c, ^loop(%k1, %at1, %next), ^done(%next)
^done(%r: i8x4):
  store %r, %y[%i]
  ret
}
; run: halu, vp1: @rows items=10 rows=7 width=10 x=random(70, 5) y=zeros(10)
; run: halu, vp1: @rows items=1003 rows=1 width=0 x=random(1003, 6) y=zeros(1003)
;= kernel @rows(%rows: i32, %width: i32, %x: in i8x4, %y: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item, loop 0 trips signed 1 * %rows at_least 1 by 4 * %width
;=   stream %y_1: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i8x16 0
;=   %2 = const.i32 0
;=   %3 = max_s.i32 %rows, %2
;=   %4 = const.i32 1
;=   %5 = icmp.gt_u.i32 %3, %4
;=   %6 = select.i32 %5, %3, %4
;=   %7 = mul.i32 %0, %6
;=   br ^loop(%2, %1)
;= ^loop(%k: i32, %most: i8x16):
;=   %8 = add.i32 %7, %k
;=   %a = load %x_0[%8]
;=   %next = max_u.i8x16 %most, %a
;=   %k1 = add.i32 %k, %4
;=   %c = icmp.lt_s.i32 %k1, %rows
;=   br_if %c, ^loop(%k1, %next), ^0
;= ^0:
;=   store %next, %y_1[%0]
;=   ret
;= }
