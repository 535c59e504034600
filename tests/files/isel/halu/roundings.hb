; test: isel halu
; f32 not rounded to nearest.
kernel @rounded_fadd(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fadd.rz.f32 %a, %b     ; check: FADD.RZ 
  %r1 = fadd.rp.f32 %r0, %b    ; check: FADD.RP 
  %r = fadd.rm.f32 %r1, %b     ; check: FADD.RM 
  store %r, %out[%i]
  ret
}
; rule: single_fadd

kernel @rounded_fsub(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fsub.rz.f32 %a, %b     ; check: FADD.RZ 
  %r1 = fsub.rp.f32 %r0, %b    ; check: FADD.RP 
  %r = fsub.rm.f32 %r1, %b     ; check: FADD.RM 
  store %r, %out[%i]
  ret
}
; rule: single_fsub

kernel @rounded_fmul(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fmul.rz.f32 %a, %b     ; check: FMUL.RZ 
  %r1 = fmul.rp.f32 %r0, %b    ; check: FMUL.RP 
  %r = fmul.rm.f32 %r1, %b     ; check: FMUL.RM 
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
  %r0 = ffma.rz.f32 %a, %b, %c     ; check: FFMA.RZ 
  %r1 = ffma.rp.f32 %r0, %b, %c    ; check: FFMA.RP 
  %r = ffma.rm.f32 %r1, %b, %c     ; check: FFMA.RM 
  store %r, %out[%i]
  ret
}
; rule: single_ffma

kernel @rounded_fdiv(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r0 = fdiv.rz.f32 %a, %b     ; check: FDIV.RZ 
  %r1 = fdiv.rp.f32 %r0, %b    ; check: FDIV.RP 
  %r = fdiv.rm.f32 %r1, %b     ; check: FDIV.RM 
  store %r, %out[%i]
  ret
}
; rule: single_fdiv

kernel @rounded_fsqrt(%a_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r0 = fsqrt.rz.f32 %a     ; check: FSQRT.RZ 
  %r1 = fsqrt.rp.f32 %r0    ; check: FSQRT.RP 
  %r = fsqrt.rm.f32 %r1     ; check: FSQRT.RM 
  store %r, %out[%i]
  ret
}
; rule: single_fsqrt

kernel @from_s_rz(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rz.f32 %a    ; check: I2F.S32.RZ 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_s_rp(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rp.f32 %a    ; check: I2F.S32.RP 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_s_rm(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rm.f32 %a    ; check: I2F.S32.RM 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_s

kernel @from_u_rz(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rz.f32 %a    ; check: I2F.U32.RZ 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u

kernel @from_u_rp(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rp.f32 %a    ; check: I2F.U32.RP 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u

kernel @from_u_rm(%a_in: in i32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_u.rm.f32 %a    ; check: I2F.U32.RM 
  store %r, %out[%i]
  ret
}
; rule: int_to_single_u
