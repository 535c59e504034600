; test: regalloc halu
; Sixteen bytes are a quad at a multiple of four; its words are read in place.
kernel @sad(%a: in i8x16, %b: in i8x16, %y: out i32) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %a0 = split.i8x4 %va, 0
  %b0 = split.i8x4 %vb, 0
  %a3 = split.i8x4 %va, 3
  %b3 = split.i8x4 %vb, 3
  %zero = const.i32 0
  %s = sad_u.i8x4 %a0, %b0, %zero
  %t = sad_u.i8x4 %a3, %b3, %s
  store %t, %y[%i]
  ret
}
;= @sad: 11 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR4, c[0x0][0x160] ;                                              // 1:8
;=     S2R R9, SR_ITEM ;                                                         // 3:3
;=     LEA R8, R9, RZ, 0x2 ;                                                     // 3:3
;=     LEA R10, R9, RZ, 0x4 ;                                                    // 3:3
;=     LDG.128 R0, [R10.U32+UR4] ;                                               // 4:3
;=     LDG.128 R4, [R10.U32+UR2] ;                                               // 5:3
;=     vabsdiff4.u32.u32.u32.add R9, R0, R4, RZ;                                 // 11:3
;=     vabsdiff4.u32.u32.u32.add R9, R3, R7, R9;                                 // 12:3
;=     STG [R8.U32+UR0], R9 ;                                                    // 13:3
;=     EXIT ;                                                                    // 14:3
