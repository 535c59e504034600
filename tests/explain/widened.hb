; explain: %p vp1
; The product is read from the accumulator as it is narrowed.
kernel @k(%x: in i8x16, %y: in i8x16, %z: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = mul_wide_u.i8x16 %a, %b
  %n = const.i16x16 8
  %s = shr_u.i16x16 %p, %n
  %r = trunc.i8x16 %s
  store %r, %z[%i]
  ret
}
;= %p = mul_wide_u.i8x16 %a, %b
;=   case.hb:8:3, @k, for vp1
;=
;= passes
;=   pack: done for a group of neighbouring work items
;=   legalise: the target lacks it alone, and no expansion makes it of what the target has
;=     mul_wide_u_by_mul makes what the target lacks
;=
;= selection
;=   %p = mul_wide_u.i8x16 %a, %b
;=     no instruction of its own; done in %r = trunc.i8x16 %s
;=       by narrow_to_low_bits (isel/rules/vp1/wide.isle:49), priority 40: inst @ (Trunc $I8X16 _)
