; explain: %r halu
; A difference and its product round once, and the sign that this takes is the operand's.
kernel @k(%x: in f16x2, %y: in f16x2, %z: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = load %z[%i]
  %m = fmul.contract.f16x2 %a, %b
  %r = fsub.contract.f16x2 %c, %m
  store %r, %z[%i]
  ret
}
;= %r = fsub.contract.f16x2 %c, %m
;=   case.hb:10:3, @k, for halu
;=
;= passes
;=   contract: fused with a product, as `contract` allows
;=        %r = fsub.contract.f16x2 %c, %m
;=     -> %r = ffma.f16x2 %v9, %b, %c
;=
;= selection
;=   %0 = fneg.f16x2 %a
;=     no instruction of its own; merged into %r = ffma.f16x2 %0, %b, %c
;=       by half_negated (isel/rules/halu/sources.isle:15), priority 1: (Fneg _ x)
;=   %r = ffma.f16x2 %0, %b, %c
;=     by half_ffma (isel/rules/halu/half.isle:70), priority 3: (Ffma (half ty) flags a b c)
;=       %0 by half_negated (isel/rules/halu/sources.isle:15)
;=     0008  0x00000000000001030000000201017231  HFMA2 R1, -R1, R2, R3 ;
;=
;= not taken
;=   by selection
;=     half_ffma_bf16_sat (isel/rules/halu/half.isle:75), priority 1
;=       line 76: expected (bf16_sat_flags ty flags), found ty = f16x2, flags = no modifiers
;=   by canon
;=     ffma_fnegs (lower/rules/simplify.isle:396), priority 2
;=       line 396: expected (Fneg _ y), found `%b = load %y[%i]`
;=     ffma_one (lower/rules/simplify.isle:400), priority 1
;=       line 400: expected (float_one), found `%b = load %y[%i]`
;=     fneg_fneg (lower/rules/simplify.isle:373), priority 0
;=       line 373: expected (Fneg _ x), found `%a = load %x[%i]`
;=     ffma_negative_zero (lower/rules/simplify.isle:403), priority 0
;=       line 403: expected (float_negative_zero), found `%c = load %z[%i]`
