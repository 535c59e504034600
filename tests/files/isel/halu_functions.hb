; test: isel halu
; Functions of one f32.
kernel @fexp2(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fexp2.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.EX2
; rule: single_fexp2

kernel @flog2(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = flog2.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.LG2
; rule: single_flog2

kernel @frsqrt(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = frsqrt.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.RSQ
; rule: single_frsqrt

kernel @fsin(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fsin.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.SIN
; rule: single_fsin

kernel @fcos(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcos.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.COS
; rule: single_fcos

kernel @ftanh(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ftanh.f32 %a
  store %r, %o[%i]
  ret
}
; check: MUFU.TANH
; rule: single_ftanh
