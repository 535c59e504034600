; test: asm halu
; Shuffles and splats of one register become element selectors.
kernel @selectors(%x: in i8x4, %s: i8, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %turned = shuffle.i8x4 %a, %a, [1, 2, 3, 0]
  %by = splat.i8x4 %s
  %r = sub_sat_u.i8x4 %turned, %by
  store %r, %y[%i]
  ret
}
;=     LDC.U8 R0, c[0x0][RZ+0x168] ;
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R1, R1, RZ, 0x2 ;
;=     LDG R2, [R1.U32+UR2] ;
;=     vsub4.u32.u32.u32.sat R2, R2.b0321, R0.b4444, RZ;
;=     STG [R1.U32+UR0], R2 ;
;=     EXIT ;
