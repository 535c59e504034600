; test: asm halu
; A switch whose ways do little, and values that meet in a block's parameters: they are selected.
kernel @control(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  switch %v, ^other, [0: ^zero, 7: ^seven(%i)]
^zero:
  %a = const.i32 100
  br ^done(%a)
^seven(%s: i32):
  %b = add.i32 %s, %v
  br ^done(%b)
^other:
  %c = const.i32 0
  %d = icmp.lt_s.i32 %v, %c
  %e = select.i32 %d, %c, %v
  br ^done(%e)
^done(%r: i32):
  store %r, %y[%i]
  ret
}
; run: halu: @control items=5 x=[0, 7, -3, 9, 7] y=zeros(5) -> y=[100, 8, 0, 9, 11]
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R4, SR_ITEM ;
;=     LEA R3, R4, RZ, 0x2 ;
;=     LDG R5, [R3.U32+UR2] ;
;=     ISETP.EQ.U32.AND P0, PT, R5, RZ ;
;=     MOV R1, 0x64 ;
;=     ISETP.EQ.U32.AND P1, PT, R5, 0x7 ;
;=     IADD3 R2, R4, R5, RZ ;
;=     ISETP.GT.S32.AND P2, PT, R5, RZ ;
;=     SEL R5, R5, RZ, P2 ;
;=     SEL R0, R2, R5, P1 ;
;=     SEL R0, R1, R0, P0 ;
;=     STG [R3.U32+UR0], R0 ;
;=     EXIT ;
