; explain: %r vp1
; Four items of four bytes share a vector.
kernel @k(%x: in i8x4, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = add_sat_u.i8x4 %a, %b
  store %r, %y[%i]
  ret
}
;= %r = add_sat_u.i8x4 %a, %b
;=   case.hb:8:3, @k, for vp1
;=
;= passes
;=   pack: vectorised over neighbouring work items
;=        %r = add_sat_u.i8x4 %a, %b
;=     -> %r = add_sat_u.i8x16 %a, %b
;=
;= selection
;=   %r = add_sat_u.i8x16 %a, %b
;=     by bytes_add_sat_u (isel/rules/vp1/bytes.isle:36), priority 10: (AddSatU $I8X16 a b)
;=     000f  0x9c5b1a07  vadd u $v11 $v12 $v13
;=     0016  0x9c5b1a07  vadd u $v11 $v12 $v13
