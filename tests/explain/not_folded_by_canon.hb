; explain: %r halu
; Rounding down, 0 - 0 is -0, so that adding -0 is not nothing.
kernel @k(%x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %k = const.f16x2 -0.0
  %r = ffma.rm.f16x2 %a, %b, %k
  store %r, %y[%i]
  ret
}
;= %r = ffma.rm.f16x2 %a, %b, %k
;=   case.hb:9:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %r = ffma.rm.f16x2 %a, %b, %k
;=     by half_ffma (isel/rules/halu/half.isle:70), priority 3: (Ffma (half ty) flags a b c)
;=       %k by src_const (isel/rules/threads/sources.isle:8)
;=     0006  0x00000000000040028000800001017431  HFMA2.RM R1, R1, R2, -0, -0 ;
;=
;= not taken
;=   by selection
;=     half_ffma_bf16_sat (isel/rules/halu/half.isle:75), priority 1
;=       line 76: expected (bf16_sat_flags ty flags), found ty = f16x2, flags = .rm
;=   by canon
;=     ffma_negative_zero (lower/rules/simplify.isle:403), priority 0
;=       line 404: expected (keeps_zeros flags), found flags = .rm
;=     ffma_fnegs (lower/rules/simplify.isle:396), priority 2
;=       line 396: expected (Fneg _ x), found `%a = load %x[%i]`
;=     ffma_one (lower/rules/simplify.isle:400), priority 1
;=       line 400: expected (float_one), found `%b = load %y[%i]`
