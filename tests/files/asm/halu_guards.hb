; test: asm halu
; A branch around a few instructions: accesses get its condition as their guard, what computes is done in any case, and what
; the ways give is selected.

; One way stores.
kernel @store(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = icmp.gt_s.i32 %v, %n
  br_if %c, ^some, ^done
^some:
  %w = add.i32 %v, %n
  store %w, %y[%i]
  br ^done
^done:
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR2] ;
;=     ISETP.GT.S32.AND P6, PT, R1, c[0x0][0x160] ;
;=     IADD3 R1, R1, c[0x0][0x160], RZ ;
;=     @P6 STG [R0.U32+UR0], R1 ;
;=     EXIT ;

; The other way does.
kernel @unless(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = icmp.gt_s.i32 %v, %n
  br_if %c, ^done, ^some
^some:
  store %v, %y[%i]
  br ^done
^done:
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR2] ;
;=     ISETP.GT.S32.AND P5, PT, R1, c[0x0][0x160] ;
;=     @!P5 STG [R0.U32+UR0], R1 ;
;=     EXIT ;

; Both do, and both end the item.
kernel @both(%n: i32, %x: in i32, %y: out i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = icmp.gt_s.i32 %v, %n
  br_if %c, ^more, ^less
^more:
  store %v, %y[%i]
  ret
^less:
  store %n, %z[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x178] ;
;=     ULDC.64 UR4, c[0x0][0x168] ;
;=     S2R R0, SR_ITEM ;
;=     LEA R0, R0, RZ, 0x2 ;
;=     LDG R1, [R0.U32+UR4] ;
;=     ISETP.GT.S32.AND P0, PT, R1, c[0x0][0x160] ;
;=     @P0 STG [R0.U32+UR0], R1 ;
;=     MOV R1, c[0x0][0x160] ;
;=     @!P0 STG [R0.U32+UR2], R1 ;
;=     EXIT ;

; What is loaded or not is selected, as is a wide value.
kernel @load(%n: i32, %a: i64, %x: in i64, %y: out i64) {
^entry:
  %i = item_id
  %c = icmp.lt_u.i32 %i, %n
  br_if %c, ^inside, ^join(%a)
^inside:
  %v = load %x[%i]
  %w = add.i64 %v, %a
  br ^join(%w)
^join(%r: i64):
  store %r, %y[%i]
  ret
}
;=     MOV R2, c[0x0][0x168] ;
;=     MOV R3, c[0x0][0x16c] ;
;=     ULDC.64 UR0, c[0x0][0x178] ;
;=     ULDC.64 UR2, c[0x0][0x170] ;
;=     S2R R7, SR_ITEM ;
;=     LEA R6, R7, RZ, 0x3 ;
;=     ISETP.LT.U32.AND P0, PT, R7, c[0x0][0x160] ;
;=     @P0 LDG.64 R4, [R6.U32+UR2] ;
;=     IADD3 R0, P1, R4, R2, RZ ;
;=     IADD3.X R1, R5, R3, RZ, P1 ;
;=     SEL R4, R0, R2, P0 ;
;=     SEL R5, R1, R3, P0 ;
;=     STG.64 [R6.U32+UR0], R4 ;
;=     EXIT ;

; Of a branch in a branch both conditions are the guard.
kernel @two(%n: i32, %m: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %c = icmp.lt_u.i32 %i, %n
  br_if %c, ^inside, ^done
^inside:
  %v = load %x[%i]
  %d = icmp.gt_s.i32 %v, %m
  br_if %d, ^some, ^done
^some:
  store %v, %y[%i]
  br ^done
^done:
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R0, R1, RZ, 0x2 ;
;=     ISETP.LT.U32.AND P6, PT, R1, c[0x0][0x160] ;
;=     @P6 LDG R1, [R0.U32+UR2] ;
;=     ISETP.GT.S32.AND P0, PT, R1, c[0x0][0x164] ;
;=     PLOP3 P0, PT, P6, P0, PT, 0xc0 ;
;=     @P0 STG [R0.U32+UR0], R1 ;
;=     EXIT ;

; A truth that depends on what is loaded is selected like any other value.
kernel @truth(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %c = icmp.lt_u.i32 %i, %n
  br_if %c, ^inside, ^join(%c)
^inside:
  %v = load %x[%i]
  %d = icmp.gt_s.i32 %v, %n
  br ^join(%d)
^join(%r: i1):
  %k = mask_expand.i32 %r
  store %k, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R0, R1, RZ, 0x2 ;
;=     ISETP.LT.U32.AND P0, PT, R1, c[0x0][0x160] ;
;=     @P0 LDG R1, [R0.U32+UR2] ;
;=     ISETP.GT.S32.AND P1, PT, R1, c[0x0][0x160] ;
;=     PLOP3 P0, PT, P0, P1, P0, 0xca ;
;=     SEL R1, RZ, 0xffffffff, !P0 ;
;=     STG [R0.U32+UR0], R1 ;
;=     EXIT ;

; A quotient is dear, so it has the guard too.
kernel @quotient(%x: in f32, %y: inout f32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %z = const.f32 0.0
  %c = fcmp.gt.f32 %w, %z
  br_if %c, ^some, ^join(%v)
^some:
  %q = fdiv.f32 %v, %w
  br ^join(%q)
^join(%r: f32):
  store %r, %y[%i]
  ret
}
;=     ULDC.64 UR0, c[0x0][0x168] ;
;=     ULDC.64 UR2, c[0x0][0x160] ;
;=     S2R R1, SR_ITEM ;
;=     LEA R1, R1, RZ, 0x2 ;
;=     LDG R0, [R1.U32+UR2] ;
;=     LDG R2, [R1.U32+UR0] ;
;=     FSETP.GT.AND P0, PT, R2, RZ ;
;=     @P0 FDIV R2, R0, R2 ;
;=     SEL R3, R2, R0, P0 ;
;=     STG [R1.U32+UR0], R3 ;
;=     EXIT ;

; In a loop, with a counter that goes on in any case.
kernel @loop(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %base = mul.i32 %i, %n
  %0 = const.i32 0
  %1 = const.i32 1
  br ^head(%0)
^head(%k: i32):
  %at = add.i32 %base, %k
  %v = load %x[%at]
  %c = icmp.ne.i32 %v, %0
  br_if %c, ^some, ^next
^some:
  store %v, %y[%at]
  br ^next
^next:
  %l = add.i32 %k, %1
  %more = icmp.lt_u.i32 %l, %n
  br_if %more, ^head(%l), ^done
^done:
  ret
}
;=     ULDC.64 UR0, c[0x0][0x170] ;
;=     ULDC.64 UR2, c[0x0][0x168] ;
;=     S2R R1, SR_ITEM ;
;=     MOV R0, RZ ;
;= L4:
;=     IMAD R2, R1, c[0x0][0x160], R0 ;
;=     LEA R2, R2, RZ, 0x2 ;
;=     LDG R3, [R2.U32+UR2] ;
;=     ISETP.NE.U32.AND P0, PT, R3, RZ ;
;=     @P0 STG [R2.U32+UR0], R3 ;
;=     IADD3 R0, R0, 0x1, RZ ;
;=     ISETP.LT.U32.AND P0, PT, R0, c[0x0][0x160] ;
;=     @P0 BRA L4 ;
;=     EXIT ;

; A way with more instructions keeps its branch: items that all go the other way are spared it.
kernel @long(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = icmp.gt_s.i32 %v, %n
  br_if %c, ^some, ^done     ; check: BRA
^some:
  %a = mul.i32 %v, %v
  %b = xor.i32 %a, %n
  %d = mul.i32 %b, %a
  %e = xor.i32 %d, %v
  %f = mul.i32 %e, %b
  %g = xor.i32 %f, %n
  %h = mul.i32 %g, %d
  %j = xor.i32 %h, %v
  store %j, %y[%i]           ; check:     STG
  br ^done
^done:
  ret
}
; never: @{{!?}}P{{.}} STG

; So does one that goes elsewhere: a loop.
kernel @around(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %c = icmp.ne.i32 %n, %0
  br_if %c, ^head(%0), ^done
^head(%k: i32):
  %v = load %x[%k]
  store %v, %y[%k]
  %l = add.i32 %k, %1
  %more = icmp.lt_u.i32 %l, %n
  br_if %more, ^head(%l), ^done
^done:
  ret
}
; never: @{{!?}}P{{.}} STG

; So does one with a loop on its way back: the branch to the next iteration is not a valid instruction that a guard stands for.
kernel @until(%n: i32, %x: inout i32) {
^entry:
  %0 = const.i32 0
  %1 = const.i32 1
  br ^head(%0)
^head(%k: i32):
  %v = load %x[%k]
  %c = icmp.eq.i32 %v, %n
  br_if %c, ^done, ^next
^next:
  store %n, %x[%k]
  %l = add.i32 %k, %1
  br ^head(%l)
^done:
  ret
}
; never: @{{!?}}P{{.}} STG
