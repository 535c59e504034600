; test: asm halu
; Signs, absolute values, half selectors and immediates become modifiers of one instruction.
kernel @modifiers(%x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %n = fneg.f16x2 %a
  %m = fabs.f16x2 %b
  %low = shuffle.f16x2 %m, %m, [0, 0]
  %k = const.f16x2 [1.5, -2.0]
  %r = ffma.rz.ftz.relu.f16x2 %n, %low, %k
  store %r, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR2] ;
;=     LDG R2, [R0.U32+UR0] ;
;=     HFMA2.FTZ.RELU.RZ R1, -R1, |R2.H0_H0|, -2, 1.5 ;
;=     STG [R0.U32+UR0], R1 ;
;=     EXIT ;
