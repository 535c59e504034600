; explain: %n halu
; HMUL2 negates its operands.
kernel @k(%x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %n = fneg.f16x2 %a
  %r = fmul.f16x2 %n, %b
  store %r, %y[%i]
  ret
}
;= %n = fneg.f16x2 %a
;=   case.hb:8:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %n = fneg.f16x2 %a
;=     no instruction of its own; merged into %r = fmul.f16x2 %n, %b
;=       by half_negated (isel/rules/halu/sources.isle:15), priority 1: (Fneg _ x)
;=
;= not taken
;=   by canon
;=     fneg_fneg (lower/rules/simplify.isle:373), priority 0
;=       line 373: expected (Fneg _ x), found `%a = load %x[%i]`
;=   by canon, for %r = fmul.f16x2 %n, %b
;=     fmul_fnegs (lower/rules/simplify.isle:392), priority 0
;=       line 392: expected (Fneg _ y), found `%b = load %y[%i]`
