; test: asm halu
; Branches on masks, a switch, and values that meet in a block's parameters.
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
;=     S2R R2, SR_ITEM ;
;=     LEA R1, R2, RZ, 0x2 ;
;=     LDG R3, [R1.U32+UR2] ;
;=     ISETP.EQ.U32.AND P0, PT, R3, RZ ;
;=     @P0 BRA L10 ;
;=     ISETP.EQ.U32.AND P0, PT, R3, 0x7 ;
;=     @P0 BRA L12 ;
;=     BRA L14 ;
;= L10:
;=     MOV R0, 0x64 ;
;=     BRA L16 ;
;= L12:
;=     IADD3 R0, R2, R3, RZ ;
;=     BRA L16 ;
;= L14:
;=     ISETP.GT.S32.AND P0, PT, R3, RZ ;
;=     SEL R0, R3, RZ, P0 ;
;= L16:
;=     STG [R1.U32+UR0], R0 ;
;=     EXIT ;
