; test: isel ptx
; The item, times a number: one wide product, for no launch has so many items that it wraps.
kernel @item_by_a_number(%b: in i32, %out: out i32) {
^entry:
  %i = item_id              ; check: mov.u32
                            ; next: mov.u32
                            ; next: mov.u32
                            ; next: mad.lo.u32
                            ; next: mul.wide.u32 {{.*}}, 48
                            ; next: add.u64
                            ; next: mul.wide.u32 {{.*}}, 4
  %k = const.i32 12
  %j = mul.i32 %i, %k
  %r = load %b[%j + 3]      ; check: ld.global.nc.b32 {{.*}}+12]
  store %r, %out[%i]
  ret
}
; rule: index_product, load_at_index
; never: shl

; What is added to it goes into the displacement.
kernel @item_and_a_number(%b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %k = const.i32 5
  %j = add.i32 %i, %k
  %r = load %b[%j]      ; check: ld.global.nc.b32 {{.*}}+20]
  store %r, %out[%i]
  ret
}
; rule: index_sum
; never: add.u32

; Unless the sum wraps, as it does for item 0.
kernel @item_less_a_number(%b: in i32, %out: out i32) {
^entry:
  %i = item_id          ; check: mov.u32
                        ; next: mov.u32
                        ; next: mov.u32
                        ; next: mad.lo.u32
                        ; next: shl.b32
                        ; next: add.u32 {{.*}}, 4294967292
                        ; next: mov.b64
                        ; next: add.u64
                        ; next: mul.wide.u32
                        ; next: add.u64
  %k = const.i32 -1
  %j = add.i32 %i, %k
  %r = load %b[%j]      ; check: ld.global.nc.b32
  store %r, %out[%i]
  ret
}
; rule: index_sum

; A number so great that few items would be left may wrap, too.
kernel @far_item(%b: in i32, %out: out i32) {
^entry:
  %i = item_id          ; check: mov.u32
                        ; next: mov.u32
                        ; next: mov.u32
                        ; next: mad.lo.u32
                        ; next: mul.lo.u32 {{.*}}, 400000
                        ; next: mov.b64
                        ; next: add.u64
                        ; next: mul.wide.u32 {{.*}}, 4
                        ; next: add.u64
  %k = const.i32 100000
  %j = mul.i32 %i, %k
  %r = load %b[%j]      ; check: ld.global.nc.b32
  store %r, %out[%i]
  ret
}
; rule: index_product

; An index that is loaded may be anything: 32 bits of product.
kernel @chosen_element(%a_in: in i32, %b: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]       ; check: ld.global.nc.b32
                            ; next: shl.b32 {{.*}}, 2
                            ; next: mov.b64
                            ; next: add.u64
  %r = load %b[%a]
  store %r, %out[%i]
  ret
}
; rule: load_at_index

; Only a buffer that is never written is read past the coherent cache.
kernel @written(%x: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]      ; check: ld.global.b32
  store %a, %x[%i]       ; check: st.global.b32
  ret
}
; rule: store_at_index
