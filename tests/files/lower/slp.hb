; test: lower halu passes=slp
; Two halves that are computed alike are the lanes of one word.
kernel @axpy(%a: f16, %x: in f16 align 4, %y: inout f16 align 4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = mul.i32 %i, %two
  %x0 = load %x[%j]
  %x1 = load %x[%j + 1]
  %y0 = load %y[%j]
  %y1 = load %y[%j + 1]
  %r0 = ffma.f16 %a, %x0, %y0
  %r1 = ffma.f16 %a, %x1, %y1
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  ret
}
;= kernel @axpy(%a: f16, %x: in f16 align 4, %y: inout f16 align 4) {
;= ^entry:
;=   %0 = splat.f16x2 %a
;=   %i = item_id
;=   %two = const.i32 2
;=   %j = mul.i32 %i, %two
;=   %1 = load.f16x2 %x[%j]
;=   %2 = load.f16x2 %y[%j]
;=   %3 = ffma.f16x2 %0, %1, %2
;=   store.f16x2 %3, %y[%j]
;=   ret
;= }

; Four bytes are one too, with constants and values that are the same in all lanes.
kernel @bytes(%by: i8, %x: in i8 align 4, %y: out i8 align 4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %k = const.i8 3
  %l = const.i8 -4
  %x0 = load %x[%j]
  %x1 = load %x[%j + 1]
  %x2 = load %x[%j + 2]
  %x3 = load %x[%j + 3]
  %s0 = add_sat_u.i8 %x0, %by
  %s1 = add_sat_u.i8 %x1, %by
  %s2 = add_sat_u.i8 %x2, %by
  %s3 = add_sat_u.i8 %x3, %by
  %r0 = max_s.i8 %s0, %k
  %r1 = max_s.i8 %s1, %l
  %r2 = max_s.i8 %s2, %k
  %r3 = max_s.i8 %s3, %l
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  store %r2, %y[%j + 2]
  store %r3, %y[%j + 3]
  ret
}
; check: splat.i8x4 %by
; check: const.i8x4 [3, -4, 3, -4]
; check: load.i8x4 %x[%j]
; next: add_sat_u.i8x4
; next: max_s.i8x4
; next: store.i8x4 {{.*}}, %y[%j]
; never: _u.i8 

; What two ops take is taken once.
kernel @square(%x: in f16 align 4, %y: out f16 align 4) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = fmul.f16 %a, %a
  %d = fmul.f16 %b, %b
  store %c, %y[%j]
  store %d, %y[%j + 1]
  ret
}
; check: [[V:%[0-9]+]] = load.f16x2
; next: fmul.f16x2 [[V]], [[V]]

; The order of lanes is that of the addresses.
kernel @exchanged(%x: in f16 align 4, %y: out f16 align 4) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = fneg.f16 %a
  %d = fneg.f16 %b
  store %d, %y[%j]
  store %c, %y[%j + 1]
  ret
}
; check: concat.f16x2 %b, %a
; next: fneg.f16x2
; check: store.f16x2

; A value that is needed elsewhere stays, and what is put together of such costs more than it saves.
kernel @needed(%x: in f16 align 4, %y: out f16 align 4, %z: out f16) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]
  %b = load %x[%j + 1]
  store %a, %y[%j]
  store %b, %y[%j + 1]
  store %b, %z[%i]
  ret
}
; never: f16x2

; Nothing is known of the address.
kernel @unaligned(%x: in f16 align 4, %y: out f16 align 4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  store %a, %y[%i]
  store %b, %y[%i + 1]
  ret
}
; never: f16x2

; Another access among them would trap in another order.
kernel @among(%x: in f16 align 4, %y: out f16 align 4, %z: in f16) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]
  %c = load %z[%i]
  %b = load %x[%j + 1]
  store %a, %y[%j]
  %d = load %z[%i + 1]
  store %b, %y[%j + 1]
  ret
}
; never: f16x2

; The lanes do different things, or not in the same way.
kernel @unlike(%x: in f16 align 4, %y: out f16 align 4) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = fmul.rz.f16 %a, %a
  %d = fmul.f16 %b, %b
  store %c, %y[%j]
  store %d, %y[%j + 1]
  ret
}
; never: f16x2

; test: isel halu
; Words of four lanes become one of 128 bits.
kernel @wide(%a: f16, %x: in f16 align 16, %y: inout f16 align 16) {
^entry:
  %i = item_id
  %eight = const.i32 8
  %j = mul.i32 %i, %eight           ; check: LEA {{.*}} 0x4
  %x0 = load %x[%j]                 ; next: LDG.128
  %x1 = load %x[%j + 1]
  %x2 = load %x[%j + 2]
  %x3 = load %x[%j + 3]
  %x4 = load %x[%j + 4]
  %x5 = load %x[%j + 5]
  %x6 = load %x[%j + 6]
  %x7 = load %x[%j + 7]
  %r0 = fmul.f16 %x0, %a            ; next: HMUL2
  %r1 = fmul.f16 %x1, %a
  %r2 = fmul.f16 %x2, %a            ; next: HMUL2
  %r3 = fmul.f16 %x3, %a
  %r4 = fmul.f16 %x4, %a            ; next: HMUL2
  %r5 = fmul.f16 %x5, %a
  %r6 = fmul.f16 %x6, %a            ; next: HMUL2
  %r7 = fmul.f16 %x7, %a
  store %r0, %y[%j]                 ; next: STG.128
  store %r1, %y[%j + 1]
  store %r2, %y[%j + 2]
  store %r3, %y[%j + 3]
  store %r4, %y[%j + 4]
  store %r5, %y[%j + 5]
  store %r6, %y[%j + 6]
  store %r7, %y[%j + 7]
  ret
}

; A wide store puts halves together: what they are is computed in the lanes of words, of the words that a wide load has.
kernel @wide_store(%x: in i64, %y: in i64, %z: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %a0 = split.f16 %a, 0
  %a1 = split.f16 %a, 1
  %a2 = split.f16 %a, 2
  %a3 = split.f16 %a, 3
  %b0 = split.f16 %b, 0
  %b1 = split.f16 %b, 1
  %b2 = split.f16 %b, 2
  %b3 = split.f16 %b, 3
  %s0 = fadd.f16 %a0, %b0
  %s1 = fadd.f16 %a1, %b1
  %s2 = fadd.f16 %a2, %b2
  %s3 = fadd.f16 %a3, %b3
  %low = concat.f16x2 %s0, %s1
  %high = concat.f16x2 %s2, %s3
  %l = bitcast.i32 %low
  %h = bitcast.i32 %high
  %r = concat.i64 %l, %h
  store %r, %z[%i]
  ret
}
;= @wide_store
;= b0():
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR4, c[0x0][0x160] ;                                              // 1:8
;=     S2R RZ, SR_ITEM ;                         rd=v20 def                      // 3:3
;=     LEA RZ, RZ, RZ, 0x3 ;                     ra=v20, rd=v19 def              // 3:3
;=     LDG.64 RZ, [RZ.U32+UR4] ;                 ra=v19, rd=v17.d def            // 4:3
;=     LDG.64 RZ, [RZ.U32+UR2] ;                 ra=v19, rd=v15.d def            // 5:3
;=     HADD2 RZ, RZ, RZ ;                        ra=v17.d, r32=v15.d, rd=v4.d def  // 14:3
;=     HADD2 RZ, RZ, RZ ;                        ra=v17.d[1], r32=v15.d[1], rd=v5.d[1] replaces v4.d  // 16:3
;=     STG.64 [RZ.U32+UR0], RZ ;                 ra=v19, r64=v5.d                // 23:3
;=     exit                                                                      // 24:3

; A selection by a compare of each lane is one by a mask, and one by a truth of all lanes stays by that.
kernel @selected(%x: in f16x2, %c: i32, %z: out f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %x[%i + 1]
  %zero = const.i32 0
  %t = icmp.ne.i32 %c, %zero
  %v0 = extract.f16x2 %v, 0
  %v1 = extract.f16x2 %v, 1
  %w0 = extract.f16x2 %w, 0
  %w1 = extract.f16x2 %w, 1
  %c0 = fcmp.lt.f16 %v0, %w0
  %c1 = fcmp.lt.f16 %v1, %w1
  %m0 = select.f16 %c0, %w0, %v0
  %m1 = select.f16 %c1, %w1, %v1
  %r0 = select.f16 %t, %m0, %v0
  %r1 = select.f16 %t, %m1, %v1
  %r = concat.f16x2 %r0, %r1
  store %r, %z[%i]
  ret
}
;= @selected
;= b0():
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x160] ;                                              // 1:8
;=     S2R RZ, SR_ITEM ;                         rd=v15 def                      // 3:3
;=     LEA RZ, RZ, RZ, 0x2 ;                     ra=v15, rd=v14 def              // 3:3
;=     LDG RZ, [RZ.U32+UR2] ;                    ra=v14, rd=v12 def              // 4:3
;=     LDG RZ, [RZ.U32+UR2+0x4] ;                ra=v14, rd=v11 def              // 5:3
;=     ISETP.NE.U32.AND PT, PT, RZ, c[0x0][0x168] ;  pu=v10.p def                // 7:3
;=     HSET2.LT.AND RZ, RZ, RZ ;                 ra=v12, r32=v11, rd=v9 def      // 12:3
;=     LOP3 RZ, RZ, RZ, RZ, 0xca ;               ra=v9, r32=v11, r64=v12, rd=v8 def  // 14:3
;=     SEL RZ, RZ, RZ, PT ;                      ra=v8, r32=v12, pp=v10.p, rd=v5 def  // 16:3
;=     STG [RZ.U32+UR0], RZ ;                    ra=v14, r64=v5                  // 19:3
;=     exit                                                                      // 20:3

; Unlike compares make no mask, lanes in another order are no word, and a sum that is needed elsewhere too stays.
kernel @lanes_apart(%x: in i32, %z: out f16x2, %u: out f16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %x[%i + 1]
  %v0 = split.f16 %v, 0
  %v1 = split.f16 %v, 1
  %w0 = split.f16 %w, 0
  %w1 = split.f16 %w, 1
  %c0 = fcmp.lt.f16 %v0, %w0
  %c1 = fcmp.gt.f16 %v1, %w1
  %m0 = select.f16 %c0, %w0, %v0
  %m1 = select.f16 %c1, %w1, %v1
  %m = concat.f16x2 %m0, %m1
  store %m, %z[%i]
  %s0 = fadd.f16 %v1, %w1
  %s1 = fadd.f16 %v0, %w0
  %s = concat.f16x2 %s0, %s1
  store %s, %z[%i + 1]
  %p0 = fmul.f16 %v0, %w0
  %p1 = fmul.f16 %v1, %w1
  %p = concat.f16x2 %p0, %p1
  store %p, %z[%i + 2]
  store %p1, %u[%i]
  ret
}
;= @lanes_apart
;= b0():
;=     ULDC.64 UR0, c[0x0][0x170] ;                                              // 1:8
;=     ULDC.64 UR2, c[0x0][0x168] ;                                              // 1:8
;=     ULDC.64 UR4, c[0x0][0x160] ;                                              // 1:8
;=     S2R RZ, SR_ITEM ;                         rd=v39 def                      // 3:3
;=     LEA RZ, RZ, RZ, 0x1 ;                     ra=v39, rd=v37 def              // 3:3
;=     LEA RZ, RZ, RZ, 0x2 ;                     ra=v39, rd=v38 def              // 3:3
;=     LDG RZ, [RZ.U32+UR4] ;                    ra=v38, rd=v35 def              // 4:3
;=     LDG RZ, [RZ.U32+UR4+0x4] ;                ra=v38, rd=v34 def              // 5:3
;=     PRMT RZ, RZ, 0x7610, RZ ;                 ra=v35, r64=v34, rd=v33 def     // 14:3
;=     PRMT RZ, RZ, 0x7610, RZ ;                 ra=v34, r64=v35, rd=v32 def     // 14:3
;=     SHF.R.U32.HI RZ, RZ, 0x10, RZ ;           r64=v35, rd=v29 def             // 7:3
;=     SHF.R.U32.HI RZ, RZ, 0x10, RZ ;           r64=v34, rd=v28 def             // 9:3
;=     HSET2.LT.AND RZ, RZ, RZ ;                 ra=v33, r32=v32, rd=v25 def     // 10:3
;=     LOP3 RZ, RZ, RZ, RZ, 0xca ;               ra=v25, r32=v34, r64=v35, rd=v20 def  // 12:3
;=     STG [RZ.U32+UR2], RZ ;                    ra=v38, r64=v20                 // 15:3
;=     HADD2 RZ, RZ, RZ ;                        ra=v29, r32=v28, rd=v17 def     // 16:3
;=     HADD2 RZ, RZ, RZ ;                        ra=v35, r32=v34, rd=v16 def     // 17:3
;=     PRMT RZ, RZ, 0x5410, RZ ;                 ra=v17, r64=v16, rd=v13 def     // 18:3
;=     STG [RZ.U32+UR2+0x4], RZ ;                ra=v38, r64=v13                 // 19:3
;=     HMUL2 RZ, RZ, RZ ;                        ra=v29, r32=v28, rd=v9 def      // 21:3
;=     HMUL2 RZ, RZ, RZ ;                        ra=v35, r32=v34, rd=v6 def      // 20:3
;=     STG [RZ.U32+UR2+0x8], RZ ;                ra=v38, r64=v6                  // 23:3
;=     STG.16 [RZ.U32+UR0], RZ ;                 ra=v37, r64=v9                  // 24:3
;=     exit                                                                      // 25:3
