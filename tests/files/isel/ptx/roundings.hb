; test: isel ptx
; f32 not rounded to nearest.
kernel @rounded_fadd(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fadd.rz.f32 %a, %b     ; check: add.rz.f32
  %r1 = fadd.rp.f32 %r0, %b    ; check: add.rp.f32
  %r = fadd.rm.f32 %r1, %b     ; check: add.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_fadd

kernel @rounded_fsub(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fsub.rz.f32 %a, %b     ; check: sub.rz.f32
  %r1 = fsub.rp.f32 %r0, %b    ; check: sub.rp.f32
  %r = fsub.rm.f32 %r1, %b     ; check: sub.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_fsub

kernel @rounded_fmul(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fmul.rz.f32 %a, %b     ; check: mul.rz.f32
  %r1 = fmul.rp.f32 %r0, %b    ; check: mul.rp.f32
  %r = fmul.rm.f32 %r1, %b     ; check: mul.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_fmul

kernel @rounded_ffma(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %r0 = ffma.rz.f32 %a, %b, %c     ; check: fma.rz.f32
  %r1 = ffma.rp.f32 %r0, %b, %c    ; check: fma.rp.f32
  %r = ffma.rm.f32 %r1, %b, %c     ; check: fma.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_ffma

kernel @rounded_fdiv(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fdiv.rz.f32 %a, %b     ; check: div.rz.f32
  %r1 = fdiv.rp.f32 %r0, %b    ; check: div.rp.f32
  %r = fdiv.rm.f32 %r1, %b     ; check: div.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_fdiv

kernel @rounded_fsqrt(%a_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r0 = fsqrt.rz.f32 %a     ; check: sqrt.rz.f32
  %r1 = fsqrt.rp.f32 %r0    ; check: sqrt.rp.f32
  %r = fsqrt.rm.f32 %r1     ; check: sqrt.rm.f32
  store %r, %out[%i]
  ret
}
; rule: single_fsqrt

kernel @from_s_rz(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rz.f32 %a    ; check: cvt.rz.f32.s32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_s_rp(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rp.f32 %a    ; check: cvt.rp.f32.s32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_s_rm(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rm.f32 %a    ; check: cvt.rm.f32.s32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_u_rz(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rz.f32 %a    ; check: cvt.rz.f32.u32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u

kernel @from_u_rp(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rp.f32 %a    ; check: cvt.rp.f32.u32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u

kernel @from_u_rm(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rm.f32 %a    ; check: cvt.rm.f32.u32
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u
