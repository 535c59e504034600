; test: regalloc vp1
; Registers of VP1: $r for words, $v for vectors, and tuples side by side where an instruction takes several.
kernel @vectors(%x: in i8x16, %z: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %c = add_sat_u.i8x16 %a, %b
  %d = max_u.i8x16 %c, %a
  store %d, %y[%i]
  ret
}
;= @vectors: 13 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     mov $r6 $m0                                                               // 1:8
;=     mov $a0 $r6                                                               // 1:8
;=     mov $r9 $m1                                                               // 1:8
;=     mov $a1 $r9                                                               // 1:8
;=     mov $r12 $m2                                                              // 1:8
;=     mov $a2 $r12                                                              // 1:8
;=     mov $r10 $m62                                                             // 1:8
;=     bra 0x0 -> b1                                                             // 1:8
;= b1:
;=     ldavh $v11 $a0 0x10                                                       // 4:3
;=     ldavh $v12 $a1 0x10                                                       // 5:3
;=     vadd u $v12 $v11 $v12                                                     // 6:3
;=     vmax u $v11 $v12 $v11                                                     // 7:3
;=     stavh $v11 $a2 0x10                                                       // 8:3
;=     sub $r10 $c0 $r10 0x1                                                     // 1:8
;=     bra $c0 zf 0x0 -> b3                                                      // 1:8
;=     bra 0x0 -> b2                                                             // 9:3
;= b2:
;=     bra 0x0 -> b1                                                             // 1:8
;= b3:
;=     exit 0x0                                                                  // 1:8

; What a selection takes as one operand stands in neighbouring registers.
kernel @tuples(%x: in i8x16, %z: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %m = icmp.eq.i8x16 %a, %b
  %c = add_sat_u.i8x16 %a, %b
  %r = select.i8x16 %m, %a, %c
  store %r, %y[%i]
  ret
}
;= @tuples: 16 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     mov $r1 0x10100                                                           // 1:8
;=     mov $r9 $m0                                                               // 1:8
;=     mov $a0 $r9                                                               // 1:8
;=     mov $r12 $m1                                                              // 1:8
;=     mov $a1 $r12                                                              // 1:8
;=     mov $r15 $m2                                                              // 1:8
;=     mov $a2 $r15                                                              // 1:8
;=     mov $r13 $m62                                                             // 1:8
;=     bra 0x0 -> b1                                                             // 1:8
;= b1:
;=     ldavh $v30 $a0 0x10                                                       // 4:3
;=     ldavh $v14 $a1 0x10                                                       // 5:3
;=     vadd u $v31 $v30 $v14                                                     // 7:3
;=     vxor $v12 $vc0 $v30 $v14                                                  // 8:3
;=     bvec $r1 $vc0 zf 0x0 & vmad2 u factor rd int -0x1 lo $v15 u $v30d u $v30  // 8:3
;=     stavh $v15 $a2 0x10                                                       // 9:3
;=     sub $r13 $c0 $r13 0x1                                                     // 1:8
;=     bra $c0 zf 0x0 -> b3                                                      // 1:8
;=     bra 0x0 -> b2                                                             // 10:3
;= b2:
;=     bra 0x0 -> b1                                                             // 1:8
;= b3:
;=     exit 0x0                                                                  // 1:8

kernel @words(%x: in i32, %z: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %c = icmp.lt_s.i32 %a, %b
  %d = add.i32 %a, %b
  %r = select.i32 %c, %d, %b
  store %r, %y[%i]
  ret
}
;= @words: 30 registers, 0 spills, 0 bytes of local memory
;= b0:
;=     mov $r7 $m0                                                               // 1:8
;=     mov $a0 $r7                                                               // 1:8
;=     mov $r10 $m1                                                              // 1:8
;=     mov $a1 $r10                                                              // 1:8
;=     mov $r13 $m2                                                              // 1:8
;=     mov $a2 $r13                                                              // 1:8
;=     mov $r11 $m62                                                             // 1:8
;=     bra 0x0 -> b1                                                             // 1:8
;= b1:
;=     ldas $r12 $a0 0x4                                                         // 4:3
;=     ldas $r28 $a1 0x4                                                         // 5:3
;=     add $r29 $r12 $r28                                                        // 7:3
;=     max $r13 $r12 $r28                                                        // 8:3
;=     xor 0x0 $c0 $r13 $r12                                                     // 8:3
;=     add $r14 0x0 (slct $c0 zf $r29d)                                          // 8:3
;=     stas $r14 $a2 0x4                                                         // 9:3
;=     sub $r11 $c1 $r11 0x1                                                     // 1:8
;=     bra $c1 zf 0x0 -> b3                                                      // 1:8
;=     bra 0x0 -> b2                                                             // 10:3
;= b2:
;=     bra 0x0 -> b1                                                             // 1:8
;= b3:
;=     exit 0x0                                                                  // 1:8
