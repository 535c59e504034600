; test: isel vp1
; A word of a table: its address is that of the table and the offset, which goes to a stream of its own first.
kernel @word(%t: in i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = load %t[%a]
  store %r, %y[%i]
  ret
}
; rule: load_there
; check: stas
; check: mov $a0
; check: lds {{.*}} $a0
; run: vp1: @word items=4 t=[5, 6, 7, 8] x=[3, 0, 0, 2] -> y=[8, 5, 5, 7]

; A byte is shifted down from its word.
kernel @byte(%t: in i8, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %t[%a]
  %r = zext.i32 %b
  store %r, %y[%i]
  ret
}
; rule: load_there
; check: lds
; check: shr

; A store is kept near its buffer, and a byte is merged into its word.
kernel @merged(%x: in i32, %y: inout i8) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = trunc.i8 %a
  store %b, %y[%a]
  ret
}
; rule: store_there
; check: min
; check: max
; check: lds
; check: sts
; run: vp1: @merged items=3 x=[2, 0, 1] y=[9, 9, 9, 9] -> y=[0, 1, 2, 9]

; An address that is known when the kernel is launched is gone through by the stream alone.
kernel @known(%n: i32, %t: in i32, %y: out i32) {
^entry:
  %i = item_id
  %k = mul.i32 %i, %n
  %r = load %t[%k]
  store %r, %y[%i]
  ret
}
; no rule: load_there
; rule: load_next
; never: lds
