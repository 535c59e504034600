; explain: %r halu
; F2FP narrows two with one rounding.
kernel @k(%x: in f32, %y: in f32, %z: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = fcvt.rz.f16 %a
  %q = fcvt.f16 %b
  %r = concat.f16x2 %p, %q
  store %r, %z[%i]
  ret
}
;= %r = concat.f16x2 %p, %q
;=   case.hb:10:3, @k, for halu
;=
;= passes
;=   no pass changes it
;=
;= selection
;=   %r = concat.f16x2 %p, %q
;=     by concat_halves (isel/rules/threads/lanes.isle:64), priority 1: (Concat2 (word _) a b)
;=     0009  0x00000000000000020000541001017816  PRMT R1, R1, 0x5410, R2 ;
;=
;= not taken
;=   by selection
;=     narrow_pair (isel/rules/halu/float.isle:57), priority 2
;=       line 57: expected flags, found no modifiers where flags = .rz
;=   by canon
;=     concat_two (lower/rules/simplify.isle:450), priority 1
;=       line 450: expected whole = (concat_whole inst), found inst = `%r = concat.f16x2 %p, %q`
