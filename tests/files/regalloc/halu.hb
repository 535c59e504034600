; test: regalloc halu
; Registers of HALU: operands end where they are used last, pairs and quads stand at multiples, and truth values in predicates.

; A register is free after the last use of its value, and taken by the result.
kernel @reused(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = fmul.f16x2 %a, %a
  %c = fadd.f16x2 %b, %a
  %d = fmul.f16x2 %c, %b
  store %d, %y[%i]
  ret
}
;= @reused: 3 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x160] ;                                              // 1:8
;=     S2R R0, SR_ITEM ;                                                         // 3:3
;=     LEA R0, R0, RZ, 0x2 ;                                                     // 3:3
;=     LDG R1, [R0.U32+UR2] ;                                                    // 4:3
;=     HMUL2 R2, R1, R1 ;                                                        // 5:3
;=     HADD2 R1, R2, R1 ;                                                        // 6:3
;=     HMUL2 R1, R1, R2 ;                                                        // 7:3
;=     STG [R0.U32+UR0], R1 ;                                                    // 8:3
;=     EXIT ;                                                                    // 9:3

; A pair stands at an even number.
kernel @pair(%x: in i64, %z: in i32, %y: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %c = sext.i64 %b
  %d = add.i64 %a, %c
  store %d, %y[%i]
  ret
}
;= @pair: 7 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR4, c[0x0][0x160] ;                                              // 1:8
;=     S2R R5, SR_ITEM ;                                                         // 3:3
;=     LEA R4, R5, RZ, 0x3 ;                                                     // 3:3
;=     LEA R6, R5, RZ, 0x2 ;                                                     // 3:3
;=     LDG.64 R0, [R4.U32+UR4] ;                                                 // 4:3
;=     LDG R6, [R6.U32+UR2] ;                                                    // 5:3
;=     SHF.R.S32.HI R5, RZ, 0x1f, R6 ;                                           // 6:3
;=     IADD3 R2, P0, R0, R6, RZ ;                                                // 7:3
;=     IADD3.X R3, R1, R5, RZ, P0 ;                                              // 7:3
;=     STG.64 [R4.U32+UR0], R2 ;                                                 // 8:3
;=     EXIT ;                                                                    // 9:3

kernel @predicates(%x: in i32, %z: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %c = icmp.lt_s.i32 %a, %b
  %d = icmp.lt_u.i32 %a, %b
  %e = xor.i1 %c, %d
  %r = select.i32 %e, %a, %b
  store %r, %y[%i]
  ret
}
;= @predicates: 3 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR4, c[0x0][0x160] ;                                              // 1:8
;=     S2R R0, SR_ITEM ;                                                         // 3:3
;=     LEA R0, R0, RZ, 0x2 ;                                                     // 3:3
;=     LDG R1, [R0.U32+UR4] ;                                                    // 4:3
;=     LDG R2, [R0.U32+UR2] ;                                                    // 5:3
;=     ISETP.LT.S32.AND P0, PT, R1, R2 ;                                         // 6:3
;=     ISETP.LT.U32.AND P1, PT, R1, R2 ;                                         // 7:3
;=     PLOP3 P0, PT, P0, P1, PT, 0x3c ;                                          // 8:3
;=     SEL R1, R1, R2, P0 ;                                                      // 9:3
;=     STG [R0.U32+UR0], R1 ;                                                    // 10:3
;=     EXIT ;                                                                    // 11:3

; A parameter of a block has one register, into which each branch moves its value. The way is too long to be selected from.
kernel @joined(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  switch %a, ^join(%a), [10: ^ten]
^ten:
  %b = mul.i32 %a, %a
  %c = mul.i32 %b, %a
  %d = mul.i32 %c, %b
  %e = mul.i32 %d, %c
  %f = mul.i32 %e, %d
  %g = mul.i32 %f, %e
  %h = mul.i32 %g, %f
  %j = mul.i32 %h, %g
  %k = mul.i32 %j, %h
  br ^join(%k)
^join(%r: i32):
  %s = add.i32 %r, %a
  store %s, %y[%i]
  ret
}
;= @joined: 4 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x160] ;                                              // 1:8
;=     S2R R0, SR_ITEM ;                                                         // 3:3
;=     LEA R0, R0, RZ, 0x2 ;                                                     // 3:3
;=     LDG R3, [R0.U32+UR2] ;                                                    // 4:3
;=     ISETP.EQ.U32.AND P0, PT, R3, 0xa ;                                        // 5:3
;=     @P0 BRA .+0 ; -> b2                                                       // 5:3
;=     BRA .+0 ; -> b1                                                           // 5:3
;= b1:
;=     MOV R1, R3 ;                                                              // 5:3
;=     BRA .+0 ; -> b3                                                           // 5:3
;= b2:
;=     IMAD R1, R3, R3, RZ ;                                                     // 7:3
;=     IMAD R2, R1, R3, RZ ;                                                     // 8:3
;=     IMAD R1, R2, R1, RZ ;                                                     // 9:3
;=     IMAD R2, R1, R2, RZ ;                                                     // 10:3
;=     IMAD R1, R2, R1, RZ ;                                                     // 11:3
;=     IMAD R2, R1, R2, RZ ;                                                     // 12:3
;=     IMAD R1, R2, R1, RZ ;                                                     // 13:3
;=     IMAD R2, R1, R2, RZ ;                                                     // 14:3
;=     IMAD R1, R2, R1, RZ ;                                                     // 15:3
;=     BRA .+0 ; -> b3                                                           // 16:3
;= b3:
;=     IADD3 R1, R1, R3, RZ ;                                                    // 18:3
;=     STG [R0.U32+UR0], R1 ;                                                    // 19:3
;=     EXIT ;                                                                    // 20:3

; Two values that a loop exchanges need a third register for a moment.
kernel @exchanged(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %a, %i)
^loop(%k: i32, %p: i32, %q: i32):
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %n
  br_if %c, ^loop(%k2, %q, %p), ^done
^done:
  %r = sub.i32 %p, %q
  store %r, %y[%i]
  ret
}
;= @exchanged: 6 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     S2R R1, SR_ITEM ;                                                         // 3:3
;=     LEA R4, R1, RZ, 0x2 ;                                                     // 3:3
;=     LDG R2, [R4.U32+UR2] ;                                                    // 4:3
;=     MOV R3, RZ ;                                                              // 5:3
;=     BRA .+0 ; -> b1                                                           // 7:3
;= b1:
;=     IADD3 R3, R3, 0x1, RZ ;                                                   // 9:3
;=     ISETP.LT.S32.AND P0, PT, R3, c[0x0][0x160] ;                              // 10:3
;=     @!P0 BRA .+0 ; -> b3                                                      // 11:3
;=     BRA .+0 ; -> b2                                                           // 11:3
;= b2:
;=     MOV R0, R1 ;                                                              // 11:3
;=     MOV R1, R2 ;                                                              // 11:3
;=     MOV R2, R0 ;                                                              // 11:3
;=     BRA .+0 ; -> b1                                                           // 11:3
;= b3:
;=     IADD3 R5, R2, -R1, RZ ;                                                   // 13:3
;=     STG [R4.U32+UR0], R5 ;                                                    // 14:3
;=     EXIT ;                                                                    // 15:3
