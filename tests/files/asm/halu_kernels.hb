; test: asm halu
; Whole kernels as words are written.
kernel @lighten(%by: i8x4, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = add_sat_u.i8x4 %a, %by
  store %r, %y[%i]
  ret
}
;=     MOV R0, c[0x0][0x160] ;
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R1, R1, RZ, 0x2 ;
;=     LDG R2, [R1.U32+UR2] ;
;=     vadd4.u32.u32.u32.sat R2, R2, R0, RZ;
;=     STG [R1.U32+UR0], R2 ;
;=     EXIT ;

; Where unlike items go different ways, what they make there is selected.
kernel @branch(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  switch %a, ^done(%a), [5: ^five]
^five:
  %n = mul.i32 %a, %a
  br ^done(%n)
^done(%r: i32):
  store %r, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R1, R1, RZ, 0x2 ;
;=     LDG R0, [R1.U32+UR2] ;
;=     ISETP.EQ.U32.AND P0, PT, R0, 0x5 ;
;=     IMAD R2, R0, R0, RZ ;
;=     SEL R3, R2, R0, P0 ;
;=     STG [R1.U32+UR0], R3 ;
;=     EXIT ;

; A switch is a chain of comparisons, and of selects where its ways do little.
kernel @choose(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %p = const.i32 5
  %q = const.i32 7
  switch %a, ^done(%a), [0: ^done(%p), 3: ^done(%q)]
^done(%r: i32):
  store %r, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R3, SR_ITEM ;
;=     LEA R3, R3, RZ, 0x2 ;
;=     LDG R1, [R3.U32+UR2] ;
;=     MOV R4, 0x5 ;
;=     MOV R2, 0x7 ;
;=     ISETP.EQ.U32.AND P0, PT, R1, RZ ;
;=     ISETP.EQ.U32.AND P1, PT, R1, 0x3 ;
;=     SEL R0, R2, R1, P1 ;
;=     SEL R0, R4, R0, P0 ;
;=     STG [R3.U32+UR0], R0 ;
;=     EXIT ;

; An intrinsic is the instruction that it says.
kernel @intrinsic(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = intrinsic.i8x4 halu "vadd4.u32.u32.u32.sat $d.b10, $0, $1, $2", %a, %a, %a
  store %r, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR2] ;
;=     vadd4.u32.u32.u32.sat R1.b10, R1, R1, R1;
;=     STG [R0.U32+UR0], R1 ;
;=     EXIT ;
