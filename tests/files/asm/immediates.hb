; test: asm halu
; Constants that fit an instruction's immediate need no register.
kernel @immediates(%x: in f16x2, %y: out f16x2, %n: in i32, %m: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = const.f16x2 [1.5, -2.0]
  %r = fadd.f16x2 %v, %c
  store %r, %y[%i]
  %w = load %n[%i]
  %k = const.i32 305419896
  %s = add.i32 %w, %k
  %f = const.i32 0xff00
  %t = and.i32 %s, %f
  store %t, %m[%i]
  ret
}
; run: halu: @immediates items=300 x=random(300, 1) y=zeros(300) n=random(300, 2) m=zeros(300)
;=     ULDC.64 UR0, c[0x0][0x178] ;
;=     ULDC.64 UR2, c[0x0][0x170] ;
;=     ULDC.64 UR4, c[0x0][0x168] ;
;=     ULDC.64 UR6, c[0x0][0x160] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR6] ;
;=     HADD2 R1, R1, -2, 1.5 ;
;=     STG [R0.U32+UR4], R1 ;
;=     LDG R1, [R0.U32+UR2] ;
;=     IADD3 R1, R1, 0x12345678, RZ ;
;=     LOP3 R1, R1, 0xff00, RZ, 0xc0 ;
;=     STG [R0.U32+UR0], R1 ;
;=     EXIT ;
