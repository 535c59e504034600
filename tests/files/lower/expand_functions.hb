; test: lower without=fexp2.f16,fexp2.bf16,ftanh.f16,ftanh.bf16
; Functions of halves by f32.
kernel @fexp2_f16(%x: in f16, %o: out f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fexp2.f16 %a
  store %r, %o[%i]
  ret
}
; check: fexp2.f32
; rule: f16_fexp2

kernel @fexp2_bf16(%x: in bf16, %o: out bf16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fexp2.bf16 %a
  store %r, %o[%i]
  ret
}
; check: fexp2.f32
; rule: bf16_fexp2

kernel @ftanh_f16(%x: in f16, %o: out f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ftanh.f16 %a
  store %r, %o[%i]
  ret
}
; check: ftanh.f32
; rule: f16_ftanh

kernel @ftanh_bf16(%x: in bf16, %o: out bf16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = ftanh.bf16 %a
  store %r, %o[%i]
  ret
}
; check: ftanh.f32
; rule: bf16_ftanh
