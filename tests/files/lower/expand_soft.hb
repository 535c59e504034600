; test: lower vp1
; Sums and products of floats, where no unit computes them: by integers.
kernel @sum(%x: in f32, %y: inout f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fadd.f32 %a, %b
  store %r, %y[%i]
  ret
}
; rule: soft_fadd
; never: fadd
; run: halu, vp1, ptx: @sum items=9 x=[0x7f800000, 0x7fc00000, 0x00000001, 0x80000000, 0x3f800000, 0x7f7fffff, 0x00800000, 0x4b800000, 0x34000000] y=[0xff800000, 0x3f800000, 0x00000001, 0x80000000, 0xbf800000, 0x7f7fffff, 0x80000001, 0x3f800000, 0x3f800001]

kernel @product(%x: in f32, %y: inout f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fmul.f32 %a, %b
  store %r, %y[%i]
  ret
}
; rule: soft_fmul
; never: fmul
; run: halu, vp1, ptx: @product items=9 x=[0x7f800000, 0x7fc00000, 0x00000001, 0x80000000, 0x7f7ffffe, 0x7f7fffff, 0x00800000, 0x00ffffff, 0x3f800001] y=[0x00000000, 0x3f800000, 0x7f000000, 0x7f800001, 0x4f000001, 0x7f7fffff, 0x3f000000, 0x3effffff, 0x3f800001]

; A difference is a sum, and halves are rounded by way of f32, lane by lane.
kernel @halves(%x: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fsub.f16x2 %a, %b
  store %r, %y[%i]
  ret
}
; rule: fsub_by_fadd
; rule: soft_fadd_f16
; rule: soft_single_of_half
; rule: soft_half_of_single
; never: fsub
; run: halu, vp1, ptx: @halves items=300 x=random(300, 1) y=random(300, 2)

; Halves by way of f32.
kernel @half_product(%x: in f16, %y: inout f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fmul.f16 %a, %b
  store %r, %y[%i]
  ret
}
; rule: soft_fmul_f16
; never: fmul
; run: halu, vp1, ptx: @half_product items=300 x=random(300, 3) y=random(300, 4)

kernel @brains(%x: in bf16, %y: inout bf16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %p = fmul.bf16 %a, %b
  %r = fadd.bf16 %p, %b
  store %r, %y[%i]
  ret
}
; rule: soft_fmul_bf16, soft_fadd_bf16, soft_single_of_bf16, soft_bf16_of_single
; never: fmul
; never: fadd
; run: halu, vp1, ptx: @brains items=300 x=random(300, 5) y=random(300, 6)

; An integer, rounded.
kernel @converted(%x: in i32, %y: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt_from_s.f32 %a
  store %r, %y[%i]
  ret
}
; rule: soft_single_of_word
; run: halu, vp1, ptx: @converted items=6 x=[0, -2147483648, 2147483647, 16777217, -16777219, 1] y=zeros(6)

; Other roundings stay as they are.
kernel @upward(%x: in f32, %y: inout f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fadd.rp.f32 %a, %b ; check: fadd.rp.f32 %a, %b
  store %r, %y[%i]
  ret
}
; no rule: soft_fadd

; So does what flushes, and what saturates.
kernel @flushed(%x: in f16, %y: inout f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %s = fmul.ftz.f16 %a, %b ; check: fmul.ftz.f16 %a, %b
  %r = fadd.sat.f16 %s, %b ; check: fadd.sat.f16 %s, %b
  store %r, %y[%i]
  ret
}
; no rule: soft_fmul_f16
; no rule: soft_fadd_f16
