; explain: %m halu
; The same, asked of the product.
kernel @k(%x: in i32, %y: in i32, %z: inout i32, %p: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %z[%i]
  %m = mul.i32 %a, %b
  %r = add.i32 %c, %m
  store %r, %z[%i]
  store %m, %p[%i]
  ret
}
;= %m = mul.i32 %a, %b
;=   case.hb:9:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %m = mul.i32 %a, %b
;=     by int_mul (isel/rules/threads/integer.isle:6), priority 1: (Mul (int_scalar _) a b)
;=     0009  0x00000000000000ff0000000201017224  IMAD R1, R1, R2, RZ ;
;=
;= not taken
;=   by selection, for %r = add.i32 %c, %m
;=     int_mad (isel/rules/halu/integer.isle:20), priority 4
;=       line 20: expected (Mul $I32 a b), found `%c = load %z[%i]`
;=   by canon
;=     mul_zero (lower/rules/simplify.isle:49), priority 4
;=       line 49: expected (iconst 0), found `%b = load %y[%i]`
;=     mul_one (lower/rules/simplify.isle:51), priority 4
;=       line 51: expected (iconst 1), found `%b = load %y[%i]`
;=     mul_minus_one (lower/rules/simplify.isle:53), priority 4
;=       line 53: expected (iconst -1), found `%b = load %y[%i]`
;=     mul_constants (lower/rules/simplify.isle:55), priority 3
;=       line 55: expected (Mul _ x j @ (constant)), found `%a = load %x[%i]`
;=     and 2 more; --all shows them
