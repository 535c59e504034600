; explain: %r vp1
; The accumulator is read with one shift for all lanes, so that this sum of products cannot be computed there.
kernel @k(%x: in i8x16, %y: in i8x16, %z: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = mul_wide_u.i8x16 %a, %b
  %n = zext.i16x16 %b
  %s = shr_u.i16x16 %p, %n
  %r = trunc.i8x16 %s
  store %r, %z[%i]
  ret
}
;= %r = trunc.i8x16 %s
;=   case.hb:11:3, @k, for vp1
;=
;= passes
;=   pack: done for a group of neighbouring work items
;=
;= selection
;=   %r = trunc.i8x16 %s
;=     no rule matches
;=
;= not taken
;=   by selection
;=     narrow_to_low_bits (isel/rules/vp1/wide.isle:49), priority 40
;=       line 50: wanted plan = (planned inst), found inst = `%r = trunc.i8x16 %s`
;=     word_trunc (isel/rules/vp1/words.isle:220), priority 0
;=       line 220: wanted (int_scalar _), found i8x16
;=
;= refused
;=   line 10: vp1 cannot do `shr_u.i16x16`: wide lanes are shifted by one constant for all
