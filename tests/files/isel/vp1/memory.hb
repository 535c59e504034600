; test: isel vp1
; Loads, stores, and where the item is: an access is to the next element of its stream.

; What all items load is there once.
kernel @uniform(%b: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %load = load.i8x4 %b      ; check: ldas
  store %load, %out[%i]
  ret
}
; rule: load_uniform

kernel @streams(%b: in i8x16, %a_in: in i32, %o: out i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                ; check: ldas {{.*}} 0x4
  %load = load.i8x16 %b[%i + 1]      ; check: ldavh {{.*}} 0x10
  store %a, %o[%i]
  store %load, %out[%i]
  ret
}
; rule: load_next, store_next

; Whether what all items would load is there is one element too.
kernel @guarded(%a_in: in i32, %b: in i32, %x: i32, %y: i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %c = icmp.lt_s.i32 %x, %y      ; check: max
                                 ; next: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  br_if %c, ^t, ^e(%a)
^t:
  %v = load.i32 %b               ; check: ldas
                                 ; check: stas
  br ^e(%v)
^e(%w: i32):
  %add = add.i32 %w, %a          ; check: add
  store %add, %out[%i]
  ret
}
; rule: store_uniform

kernel @item_and_count(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]         ; check: ldas {{.*}} 0x4
  %add = add.i32 %a, %i       ; check: add
  %n = item_count
  %add2 = add.i32 %a, %n      ; check: add
  store %add, %out1[%i]
  store %add2, %out2[%i]
  ret
}
; rule: where_item, where_count
