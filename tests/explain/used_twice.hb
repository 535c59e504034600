; explain: %r vp1
; The joined mask is stored too, so that it has to be there as bytes.
kernel @k(%x: in i8x16, %y: in i8x16, %z: out i8x16, %w: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %x[%i + 1]
  %m = icmp.lt_s.i8x16 %a, %c
  %d = absdiff_u.i8x16 %a, %b
  %n = icmp.lt_u.i8x16 %d, %c
  %j = and.i1x16 %m, %n
  %r = select.i8x16 %j, %a, %b
  %e = mask_expand.i8x16 %j
  store %r, %z[%i]
  store %e, %w[%i]
  ret
}
;= %r = select.i8x16 %j, %a, %b
;=   case.hb:13:3, @k, for vp1
;=
;= passes
;=   pack: vectorised over neighbouring work items
;=
;= selection
;=   %r = select.i8x16 %j, %a, %b
;=     by select_by_bits (isel/rules/vp1/masks.isle:53), priority 10: (Select (vector _) m a b)
;=     0013  0x94a7ae37  vxor $v20 $v30 $v23
;=     001e  0x94b53247  vand $v22 $v20 $v25
;=     0021  0x94c5ae37  vxor $v24 $v22 $v23
;=     0026  0x94a7ae37  vxor $v20 $v30 $v23
;=     002e  0x94b53247  vand $v22 $v20 $v25
;=     002f  0x94c5ae37  vxor $v24 $v22 $v23
;=     0034  0x94b53247  vand $v22 $v20 $v25
;=     0035  0x94c5ae37  vxor $v24 $v22 $v23
;=
;= not taken
;=   by selection
;=     select_by_joined (isel/rules/vp1/wide.isle:199), priority 41
;=       line 200: expected (used_once mask), found mask = `%j = and.i1x16 %m, %n`
;=     select_by_difference (isel/rules/vp1/wide.isle:196), priority 40
;=       line 196: expected (compared_difference cc limit x y), found `%j = and.i1x16 %m, %n`
;=     select_by_comparison (isel/rules/vp1/masks.isle:50), priority 13
;=       line 50: expected (Icmp $I8X16 cc x y), found `%j = and.i1x16 %m, %n`
;=     select_zero_or (isel/rules/vp1/masks.isle:61), priority 12
;=       line 61: expected (const_zero), found `%a = load %x_0[%i]`
;=     and 2 more; --all shows them
