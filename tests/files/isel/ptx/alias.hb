; test: isel ptx
; What a store by way of another parameter may change is not loaded as constant; what has contents of its own is.
kernel @may_change(%x: in i32, %y: inout may_alias i32, %t: in i32 = [3, 5]) {
^entry:
  %i = item_id
  %one = const.i32 1
  %at = and.i32 %i, %one
  %a = load %x[%i]           ; check: ld.global.b32
  %b = load %t[%at]          ; check: ld.global.nc.b32
  %c = add.i32 %a, %b
  store %c, %y[%i]           ; check: st.global.b32
  ret
}
; never: ld.global.nc.b32 {{.*}}[%rd

; Another buffer that is written and says nothing overlaps nothing.
kernel @changes_nothing(%x: in may_alias i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]           ; check: ld.global.nc.b32
  store %a, %y[%i]           ; check: st.global.b32
  ret
}

; The only buffer that is written may overlap only what is read.
kernel @beside_another(%x: in i32, %y: inout may_alias i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]           ; check: ld.global.b32
  %b = load %y[%i]           ; check: ld.global.b32
  store %a, %y[%i]           ; check: st.global.b32
  store %b, %z[%i]           ; check: st.global.b32
  ret
}
; never: ld.global.nc
