; test: asm halu
; A loop by block parameters; the exit test is inverted so that the back edge needs no second branch.
kernel @sum(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %first = mul.i32 %i, %n
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %at = add.i32 %first, %k
  %v = load %x[%at]
  %next_sum = add.i32 %sum, %v
  %next_k = add.i32 %k, %one
  %more = icmp.lt_u.i32 %next_k, %n
  br_if %more, ^loop(%next_k, %next_sum), ^done
^done:
  store %next_sum, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R2, SR_ITEM ;
;=     LEA R3, R2, RZ, 0x2 ;
;=     MOV R0, RZ ;
;=     MOV R1, R0 ;
;= L6:
;=     IMAD R4, R2, c[0x0][0x168], R0 ;
;=     LEA R4, R4, RZ, 0x2 ;
;=     LDG R4, [R4.U32+UR2] ;
;=     IADD3 R1, R1, R4, RZ ;
;=     IADD3 R0, R0, 0x1, RZ ;
;=     ISETP.LT.U32.AND P0, PT, R0, c[0x0][0x168] ;
;=     @P0 BRA L6 ;
;=     STG [R3.U32+UR0], R1 ;
;=     EXIT ;

; The exit does not read `m`, so its copy precedes the branch back.
kernel @falling(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %zero, %zero)
^loop(%k: i32, %m: i32, %sum: i32):
  %v = load %x[%k]
  %t = max_s.i32 %m, %v
  %d = sub.i32 %t, %m
  %p = mul.i32 %d, %v
  %next_sum = add.i32 %sum, %p
  %next_k = add.i32 %k, %one
  %more = icmp.lt_u.i32 %next_k, %n
  br_if %more, ^loop(%next_k, %t, %next_sum), ^done
^done:
  store %next_sum, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R6, SR_ITEM ;
;=     LEA R6, R6, RZ, 0x2 ;
;=     MOV R2, RZ ;
;=     MOV R3, R2 ;
;=     MOV R4, R2 ;
;= L7:
;=     LEA R0, R2, RZ, 0x2 ;
;=     LDG R0, [R0.U32+UR2] ;
;=     ISETP.GT.S32.AND P0, PT, R3, R0 ;
;=     SEL R5, R3, R0, P0 ;
;=     IADD3 R1, R5, -R3, RZ ;
;=     IMAD R4, R1, R0, R4 ;
;=     IADD3 R2, R2, 0x1, RZ ;
;=     ISETP.LT.U32.AND P0, PT, R2, c[0x0][0x168] ;
;=     MOV R3, R5 ;
;=     @P0 BRA L7 ;
;=     STG [R6.U32+UR0], R4 ;
;=     EXIT ;
