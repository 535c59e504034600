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
  %load = load.i32 %p[%i]      ; next: MOV {{.*}}.d[1] replaces
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

; What an index is multiplied by goes into the bytes of a step: a power of two is one LEA, and all accesses share it.
kernel @multiplied_index(%x: in i32, %y: out i32) {
^entry:
  %i = item_id                     ; check: S2R
  %eight = const.i32 8             ; check: LEA {{.*}} 0x5
  %j = mul.i32 %i, %eight          ; never: IMAD
  %a = load %x[%j]                 ; next: LDG {{.*}} [RZ.U32+UR2]
  %b = load %x[%j + 1]             ; next: LDG {{.*}} [RZ.U32+UR2+0x4]
  %r = add.i32 %a, %b
  store %r, %y[%i]
  ret
}
; rule: index_product, index_plain

; Three times a power of two is a sum first.
kernel @index_by_three(%x: in i32, %y: out i32) {
^entry:
  %i = item_id                     ; check: S2R
  %twelve = const.i32 12           ; next: LEA {{.*}} 0x1 {{.*}} r32=v{{[0-9]+}}, rd=[[T:v[0-9]+]]
  %j = mul.i32 %i, %twelve         ; next: LEA {{.*}} 0x4 {{.*}} ra=[[T]]
  %a = load %x[%j]                 ; never: IMAD
  store %a, %y[%j]
  ret
}
; rule: index_product

; Any other number is one product, not two instructions.
kernel @index_by_seven(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id                     ; check: S2R
  %seven = const.i32 7             ; next: IMAD {{.*}} 0x1c
  %j = mul.i32 %i, %seven          ; next: LDG
  %a = load %x[%j]                 ; never: LEA
  store %a, %y[%j]
  ret
}
; rule: index_product

; A shift is a product. What is used elsewhere too is computed there.
kernel @shifted_index(%x: in f16x2, %y: out i32) {
^entry:
  %i = item_id
  %three = const.i32 3
  %j = shl.i32 %i, %three          ; check: SHF.L
  %a = load.i32 %x[%j]
  %r = xor.i32 %a, %j
  store %r, %y[%i]
  ret
}
; rule: index_shifted

; A sum may wrap where the address does not, and is no product either.
kernel @added_index(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %four = const.i32 4
  %s = add.i32 %i, %four           ; check: IADD3
  %a = load %x[%s]                 ; next: LEA {{.*}} 0x2
  store %a, %y[%i]
  ret
}
; no rule: index_product, index_shifted

; A product by what is not constant is computed.
kernel @index_by_a_parameter(%k: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %j = mul.i32 %i, %k              ; check: IMAD
  %a = load %x[%j]                 ; next: LEA {{.*}} 0x2
  store %a, %y[%i]
  ret
}
; no rule: index_product
