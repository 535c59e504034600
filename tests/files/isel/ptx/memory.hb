; test: isel ptx
; Loads, stores, and where the item is.
kernel @first_element(%b: in i8x4, %a_in: in i8, %o: out i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: ld.global.nc.u8
  %load = load.i8x4 %b       ; check: ld.global.nc.b32
  store %a, %o[%i]           ; check: st.global.u8
  store %load, %out[%i]      ; check: st.global.b32
  ret
}
; rule: load_at, store_at_index

; A constant is added to the address.
kernel @indexed(%b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %load = load.i32 %b[%i + 1]      ; check: ld.global.nc.b32
  store %load, %out[%i]            ; check: st.global.b32
  ret
}
; rule: load_at_index

; An access is as wide as its type.
kernel @types(%a: in i8, %b: in i16, %c: in i64, %d: in i8x16, %w: out i8, %x: out i16, %y: out i64,
    %z: out i8x16) {
^entry:
  %i = item_id
  %p = load %a[%i]      ; check: ld.global.nc.u8
  %q = load %b[%i]      ; check: ld.global.nc.u16
  %s = load %c[%i]      ; check: ld.global.nc.b64
  %t = load %d[%i]      ; check: ld.global.nc.v4.b32
  store %p, %w[%i]      ; check: st.global.u8
  store %q, %x[%i]      ; check: st.global.u16
  store %s, %y[%i]      ; check: st.global.b64
  store %t, %z[%i]      ; check: st.global.v4.b32
  ret
}
; rule: load_at_index, store_at_index

kernel @computed_address(%a_in: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]             ; check: ld.global.nc.b32
  %k = const.i32 4
  %n = mul_wide_u.i32 %i, %k      ; check: mul.wide.u32 {{.*}}, 4
                                  ; next: mov.b64
  %p = ptr_add %o, %n             ; check: mov.b64
                                  ; next: mov.b64
                                  ; next: add.u64
                                  ; next: mov.b64
  store.i32 %a, %p                ; check: mov.b64
                                  ; next: st.global.b32
  ret
}
; rule: store_at

kernel @pointer(%b: in i32, %out: out i32) {
^entry:
  %i = item_id                 ; check: mov.b64
  %k = const.i64 8
  %p = ptr_add %b, %k          ; check: mov.b64
                               ; next: mov.b64
                               ; next: add.u64
                               ; next: mov.b64
  %load = load.i32 %p[%i]      ; next: mov.b64
                               ; next: mul.wide.u32 {{.*}}, 4
                               ; next: add.u64
                               ; next: ld.global.b32
  store %load, %out[%i]
  ret
}
; rule: pointer_add

kernel @item_and_count(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]         ; check: ld.global.nc.b32
  %add = add.i32 %a, %i       ; check: add.u32
  %n = item_count             ; check: mov.u32
                              ; next: mov.u32
                              ; next: mul.lo.u32
  %add2 = add.i32 %a, %n      ; check: add.u32
  store %add, %out1[%i]       ; check: st.global.b32
  store %add2, %out2[%i]      ; check: st.global.b32
  ret
}
; rule: where_item, where_count

; What an index is multiplied by goes into the bytes of a step: a power of two is one LEA, and all accesses share it.
kernel @multiplied_index(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %eight = const.i32 8
  %j = mul.i32 %i, %eight
  %a = load %x[%j]             ; check: ld.global.nc.b32
  %b = load %x[%j + 1]         ; check: ld.global.nc.b32
  %r = add.i32 %a, %b          ; check: add.u32
  store %r, %y[%i]             ; check: st.global.b32
  ret
}
; rule: index_product, index_plain

; Three times a power of two is a sum first.
kernel @index_by_three(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %twelve = const.i32 12
  %j = mul.i32 %i, %twelve
  %a = load %x[%j]              ; check: ld.global.nc.b32
  store %a, %y[%j]              ; check: st.global.b32
  ret
}
; rule: index_product

; Any other number is one product, not two instructions.
kernel @index_by_seven(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %seven = const.i32 7
  %j = mul.i32 %i, %seven
  %a = load %x[%j]             ; check: ld.global.nc.b32
  store %a, %y[%j]             ; check: st.global.b32
  ret
}
; rule: index_product

; A shift is a product. What is used elsewhere too is computed there.
kernel @shifted_index(%x: in f16x2, %y: out i32) {
^entry:
  %i = item_id
  %three = const.i32 3
  %j = shl.i32 %i, %three      ; check: shl.b32 {{.*}}, 3
  %a = load.i32 %x[%j]         ; check: ld.global.nc.b32
  %r = add.i32 %a, %j          ; check: add.u32
  store %r, %y[%i]             ; check: st.global.b32
  ret
}
; rule: index_shifted

; A sum may wrap where the address does not, and is no product either.
kernel @added_index(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %four = const.i32 4
  %s = add.i32 %i, %four
  %a = load %x[%s]            ; check: ld.global.nc.b32
  store %a, %y[%i]            ; check: st.global.b32
  ret
}
; no rule: index_product, index_shifted

; A product by what is not constant is computed.
kernel @index_by_a_parameter(%k: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %j = mul.i32 %i, %k      ; check: mul.lo.u32
                           ; next: shl.b32 {{.*}}, 2
                           ; next: mov.b64
                           ; next: add.u64
  %a = load %x[%j]         ; check: ld.global.nc.b32
  store %a, %y[%i]         ; check: st.global.b32
  ret
}
; no rule: index_product
