; test: isel halu
; Loads, stores, and where the item is.
kernel @first_element(%b: in i8x4, %a_in: in i8, %o: out i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %load = load.i8x4 %b      ; check: LDG {{.*}} [RZ.U32+UR4]
  store %a, %o[%i]
  store %load, %out[%i]
  ret
}
; rule: load_at, store_at_index

; A constant is added to the address.
kernel @indexed(%b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %load = load.i32 %b[%i + 1]      ; check: LDG {{.*}} [RZ.U32+UR2+0x4]
  store %load, %out[%i]
  ret
}
; rule: load_at_index

; An access is as wide as its type.
kernel @types(%a: in i8, %b: in i16, %c: in i64, %d: in i8x16, %w: out i8, %x: out i16, %y: out i64,
    %z: out i8x16) {
^entry:
  %i = item_id
  %p = load %a[%i]      ; check: LDG.U8 {{.*}} [RZ.U32+UR14]
  %q = load %b[%i]      ; check: LDG.U16 {{.*}} [RZ.U32+UR12]
  %s = load %c[%i]      ; check: LDG.64 {{.*}} [RZ.U32+UR10]
  %t = load %d[%i]      ; check: LDG.128 {{.*}} [RZ.U32+UR8]
  store %p, %w[%i]      ; check: STG.8 [RZ.U32+UR6]
  store %q, %x[%i]      ; check: STG.16 [RZ.U32+UR4]
  store %s, %y[%i]      ; check: STG.64 [RZ.U32+UR2]
  store %t, %z[%i]      ; check: STG.128 [RZ.U32+UR0]
  ret
}
; rule: load_at_index, store_at_index

kernel @computed_address(%a_in: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 4
  %n = mul_wide_u.i32 %i, %k      ; check: IMAD.WIDE.U32 {{.*}} 0x4
  %p = ptr_add %o, %n             ; check: IADD3
                                  ; next: IADD3.X
  store.i32 %a, %p
  ret
}
; rule: store_at

kernel @pointer(%b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %k = const.i64 8
  %p = ptr_add %b, %k          ; check: IADD3
                               ; next: IADD3.X
  %load = load.i32 %p[%i]      ; check: MOV
                               ; next: MOV
                               ; next: IADD3
                               ; next: IADD3.X
                               ; next: LDG {{.*}} [RZ.64]
  store %load, %out[%i]
  ret
}
; rule: pointer_add

kernel @item_and_count(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %add = add.i32 %a, %i       ; check: IADD3
  %n = item_count             ; check: MOV {{.*}} c[0x0][0x0]
  %add2 = add.i32 %a, %n      ; check: IADD3
  store %add, %out1[%i]
  store %add2, %out2[%i]
  ret
}
; rule: where_item, where_count
