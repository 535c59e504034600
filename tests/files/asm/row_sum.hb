; test: asm halu
; A loop by block parameters: the sum of a row.
kernel @row_sum(%n: i32, %x: in f16x2, %sum: out f16x2) {
^entry:
  %i     = item_id
  %0     = const.i32 0
  %1     = const.i32 1
  %zero  = const.f16x2 0.0
  %first = mul.i32 %i, %n
  %some  = icmp.ne.i32 %n, %0
  br_if %some, ^loop(%0, %zero), ^done(%zero)
^loop(%k: i32, %acc: f16x2):
  %at   = add.i32 %first, %k
  %v    = load %x[%at]
  %next = fadd.f16x2 %acc, %v
  %k1   = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %next), ^done(%next)
^done(%r: f16x2):
  store %r, %sum[%i]
  ret
}
; run: halu: @row_sum items=2 n=3 x=[1, 2, 3, 4, 5, [6, -6]] sum=zeros(2) -> sum=[6, [15, 3]]
; run: halu: @row_sum items=2 n=0 x=[] sum=zeros(2) -> sum=[0, 0]
; run: halu: @row_sum items=20 n=7 x=random(140, 1) sum=zeros(20)
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R4, R0, RZ, 0x2 ;
;=     MOV R2, RZ ;
;=     MOV R3, RZ ;
;=     ISETP.NE.U32.AND P0, PT, RZ, c[0x0][0x160] ;
;=     @!P0 BRA L15 ;
;= L8:
;=     IMAD R1, R0, c[0x0][0x160], R2 ;
;=     LEA R1, R1, RZ, 0x2 ;
;=     LDG R1, [R1.U32+UR2] ;
;=     HADD2 R3, R3, R1 ;
;=     IADD3 R2, R2, 0x1, RZ ;
;=     ISETP.LT.U32.AND P0, PT, R2, c[0x0][0x160] ;
;=     @P0 BRA L8 ;
;= L15:
;=     STG [R4.U32+UR0], R3 ;
;=     EXIT ;
