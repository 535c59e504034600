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
