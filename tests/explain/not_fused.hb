; explain: %r halu
; The product is the second operand, and IMAD's rule looks at the first; stored too, it is there anyway.
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
;= %r = add.i32 %c, %m
;=   case.hb:10:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %r = add.i32 %c, %m
;=     by int_add (isel/rules/halu/integer.isle:4), priority 2: (Add $I32 a b)
;=     000a  0x00001c3c000000ff0000000103027210  IADD3 R2, R3, R1, RZ ;
;=
;= not taken
;=   by selection
;=     int_mad (isel/rules/halu/integer.isle:20), priority 4
;=       line 20: expected (Mul $I32 a b), found `%c = load %z[%i]`
;=     int_add3 (isel/rules/halu/integer.isle:7), priority 3
;=       line 7: expected (Add $I32 a b), found `%c = load %z[%i]`
;=   by canon
;=     dot_of_products (lower/rules/idioms.isle:385), priority -40
;=       line 385: expected (makes_dot x y), found x = `%c = load %z[%i]`, y = `%m = mul.i32 %a, %b`
;=     add_zero (lower/rules/simplify.isle:14), priority 5
;=       line 14: expected (iconst 0), found `%m = mul.i32 %a, %b`
;=     add_constants (lower/rules/simplify.isle:16), priority 4
;=       line 16: expected (Add _ x j @ (constant)), found `%c = load %z[%i]`
;=     add_neg (lower/rules/simplify.isle:18), priority 3
;=       line 18: expected (Neg _ y), found `%m = mul.i32 %a, %b`
;=     and 16 more; --all shows them
