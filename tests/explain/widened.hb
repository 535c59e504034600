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
;=   pack: vectorised over neighbouring work items
;=   legalise: the target lacks the op, and no rule replaces it by ops that the target has
;=     mul_wide_u_by_mul yields ops that the target lacks
;=
;= selection
;=   %p = mul_wide_u.i8x16 %a, %b
;=     no instruction of its own; merged into %r = trunc.i8x16 %s
;=       by narrow_to_low_bits (isel/rules/vp1/wide.isle:49), priority 40: inst @ (Trunc $I8X16 _)
