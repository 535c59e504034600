; explain: %r halu
; A sum with a negation is a difference, and HADD2 negates by itself.
kernel @k(%x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %n = fneg.f16x2 %a
  %r = fadd.f16x2 %b, %n
  store %r, %y[%i]
  ret
}
;= %r = fadd.f16x2 %b, %n
;=   case.hb:9:3, @k, for halu
;=
;= passes
;=   canon: rewritten by fadd_fneg (lower/rules/simplify.isle:380)
;=        %r = fadd.f16x2 %b, %n
;=     -> %r = fsub.f16x2 %b, %a
;=
;= selection
;=   %r = fsub.f16x2 %b, %a
;=     by half_fsub (isel/rules/halu/half.isle:30), priority 3: (Fsub (half ty) flags a b)
;=     0006  0x00000001000000000000000102017230  HADD2 R1, R2, -R1 ;
;=
;= not taken
;=   by selection
;=     half_fsub_relu (isel/rules/halu/half.isle:35), priority 2
;=       line 36: expected (relu_flags ty flags), found ty = f16x2, flags = no modifiers
;=     half_fsub_bf16_sat (isel/rules/halu/half.isle:40), priority 1
;=       line 41: expected (bf16_sat_flags ty flags), found ty = f16x2, flags = no modifiers
;=   by canon
;=     fsub_fneg (lower/rules/simplify.isle:388), priority 0
;=       line 388: expected (Fneg _ y), found `%a = load %x[%i]`
