; test: asm halu
; Packed bytes: saturation, averages, differences, comparison to a mask, selection, reduction.
kernel @bytes(%a: in i8x4, %b: in i8x4, %y: out i8x4, %sum: out i32) {
^entry:
  %i  = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %s  = add_sat_s.i8x4 %va, %vb
  %g  = avg_u.i8x4 %s, %vb
  %d  = absdiff_u.i8x4 %g, %va
  %m  = icmp.lt_u.i8x4 %d, %vb
  %r  = select.i8x4 %m, %d, %g
  store %r, %y[%i]
  %t  = reduce_add_u.i8x4 %r
  store %t, %sum[%i]
  ret
}
; run: halu: @bytes items=2000 a=random(2000, 1) b=random(2000, 2) y=zeros(2000) sum=zeros(2000)
;=     ULDC.64 UR0, c[0x0][0x178] ;
;=     ULDC.64 UR2, c[0x0][0x170] ;
;=     ULDC.64 UR4, c[0x0][0x168] ;
;=     ULDC.64 UR6, c[0x0][0x160] ;
;=     S2R R3, SR_ITEM ;
;=     LEA R3, R3, RZ, 0x2 ;
;=     LDG R4, [R3.U32+UR6] ;
;=     LDG R0, [R3.U32+UR4] ;
;=     vadd4.s32.s32.s32.sat R1, R4, R0, RZ;
;=     vavrg4.u32.u32.u32 R1, R1, R0, RZ;
;=     vabsdiff4.u32.u32.u32 R4, R1, R4, RZ;
;=     vsub4.s32.u32.u32.sat R2, R4, R0, RZ;
;=     PRMT R0, R2, 0xba98, RZ ;
;=     LOP3 R4, R0, R4, R1, 0xca ;
;=     STG [R3.U32+UR2], R4 ;
;=     vadd4.u32.u32.u32.add R4, R4, RZ, RZ;
;=     STG [R3.U32+UR0], R4 ;
;=     EXIT ;
