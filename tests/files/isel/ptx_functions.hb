; test: isel ptx
; Functions of one f32.
kernel @fexp2(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fexp2.f32 %a
  store %r, %o[%i]
  ret
}
; check: ex2.approx.f32
; rule: single_fexp2

kernel @flog2(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = flog2.f32 %a
  store %r, %o[%i]
  ret
}
; check: lg2.approx.f32
; rule: single_flog2

kernel @frsqrt(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = frsqrt.f32 %a
  store %r, %o[%i]
  ret
}
; check: rsqrt.approx.f32
; rule: single_frsqrt

kernel @fsin(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fsin.f32 %a
  store %r, %o[%i]
  ret
}
; check: sin.approx.f32
; rule: single_fsin

kernel @fcos(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcos.f32 %a
  store %r, %o[%i]
  ret
}
; check: cos.approx.f32
; rule: single_fcos

kernel @ftanh(%x: in f32, %o: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ftanh.f32 %a
  store %r, %o[%i]
  ret
}
; check: tanh.approx.f32
; rule: single_ftanh
