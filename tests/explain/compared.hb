; explain: 10:3 vp1
; A comparison leaves flags, which the selection of bytes takes.
kernel @k(%x: in i8x16, %y: in i8x16, %z: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %x[%i + 1]
  ; Line 10:
  %m = icmp.gt_u.i8x16 %a, %b
  %r = select.i8x16 %m, %c, %b
  store %r, %z[%i]
  ret
}
;= %m = icmp.gt_u.i8x16 %a, %b
;=   case.hb:10:3, @k, for vp1
;=
;= passes
;=   pack: vectorised over neighbouring work items
;=
;= selection
;=   %m = icmp.gt_u.i8x16 %a, %b
;=     no instruction of its own; merged into %r = select.i8x16 %m, %c, %b
;=       by select_by_comparison (isel/rules/vp1/masks.isle:50), priority 13: (Select (vector _) (Icmp $I8X16 cc x y) a b)
