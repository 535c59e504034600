; explain: %t halu
; The second of two equal sums.
kernel @k(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %s = add.i32 %a, %b
  %t = add.i32 %b, %a
  %r = mul.i32 %s, %t
  store %r, %y[%i]
  ret
}
;= %t = add.i32 %b, %a
;=   case.hb:9:3, @k, for halu
;=
;= passes
;=   gvn: replaced by an equal earlier value
;=        %t = add.i32 %b, %a
;=     -> %s = add.i32 %a, %b
;=
;= selection
;=   %s = add.i32 %a, %b
;=     by int_add (isel/rules/halu/integer.isle:4), priority 2: (Add $I32 a b)
;=     0006  0x00001c3c000000ff0000000201017210  IADD3 R1, R1, R2, RZ ;
;=
;= not taken
;=   by selection
;=     int_mad (isel/rules/halu/integer.isle:20), priority 4
;=       line 20: expected (Mul $I32 a b), found `%a = load %x[%i]`
;=     int_add3 (isel/rules/halu/integer.isle:7), priority 3
;=       line 7: expected (Add $I32 a b), found `%a = load %x[%i]`
;=   by canon
;=     dot_of_products (lower/rules/idioms.isle:385), priority -40
;=       line 385: expected (makes_dot x y), found x = `%b = load %y[%i]`, y = `%a = load %x[%i]`
;=     add_zero (lower/rules/simplify.isle:14), priority 5
;=       line 14: expected (iconst 0), found `%a = load %x[%i]`
;=     add_constants (lower/rules/simplify.isle:16), priority 4
;=       line 16: expected (Add _ x j @ (constant)), found `%b = load %y[%i]`
;=     add_neg (lower/rules/simplify.isle:18), priority 3
;=       line 18: expected (Neg _ y), found `%a = load %x[%i]`
;=     and 16 more; --all shows them
