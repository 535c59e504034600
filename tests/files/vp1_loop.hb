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
