; test: asm halu
; Sixteen bytes aligned to eight are moved by pairs, which trap where the whole would.
kernel @copy(%x: in i64, %y: out i64) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = mul.i32 %i, %two
  %v = load.i8x16 %x[%j + 1]
  store.i8x16 %v, %y[%j]
  ret
}
; run: halu: @copy items=2 x=[1, 2, 3, 4, 5] y=zeros(4) -> y=[2, 3, 4, 5]
; run: halu: @copy items=100 x=random(201, 1) y=zeros(200)
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R12, SR_ITEM ;
;=     LEA R12, R12, RZ, 0x4 ;
;=     LDG.64 R8, [R12.U32+UR2+0x8] ;
;=     LDG.64 R4, [R12.U32+UR2+0x10] ;
;=     MOV R0, R8 ;
;=     MOV R1, R9 ;
;=     MOV R2, R4 ;
;=     MOV R3, R5 ;
;=     MOV R4, R0 ;
;=     MOV R5, R1 ;
;=     STG.64 [R12.U32+UR0], R4 ;
;=     MOV R4, R2 ;
;=     MOV R5, R3 ;
;=     STG.64 [R12.U32+UR0+0x8], R4 ;
;=     EXIT ;
