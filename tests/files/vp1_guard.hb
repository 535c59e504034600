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
