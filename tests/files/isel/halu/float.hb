; test: isel halu
; Singles, and conversions.
kernel @arithmetic(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out1: out f32, %out2: out f32, %out3: out f32,
    %out4: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]              ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %fadd = fadd.f32 %a, %b          ; check: FADD{{.*}} ra=[[A]], r32=[[B]]
  %fsub = fsub.f32 %a, %b          ; check: FADD {{.*}} -RZ{{.*}} ra=[[A]], r32=[[B]]
  %fmul = fmul.f32 %a, %b          ; check: FMUL{{.*}} ra=[[A]], r32=[[B]]
  %ffma = ffma.f32 %a, %b, %c      ; check: FFMA{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  store %fadd, %out1[%i]
  store %fsub, %out2[%i]
  store %fmul, %out3[%i]
  store %ffma, %out4[%i]
  ret
}
; rule: single_fadd, single_fsub, single_fmul, single_ffma

kernel @quotient_and_root(%a_in: in f32, %b_in: in f32, %out1: out f32, %out2: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]          ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %fdiv = fdiv.f32 %a, %b      ; check: FDIV{{.*}} ra=[[A]], r32=[[B]]
  %fsqrt = fsqrt.f32 %a        ; check: FSQRT{{.*}} r32=[[A]]
  store %fdiv, %out1[%i]
  store %fsqrt, %out2[%i]
  ret
}
; rule: single_fdiv, single_fsqrt

kernel @comparisons(%a_in: in f32, %b_in: in f32, %out1: out f32, %out2: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = fcmp.eq.f32 %a, %b              ; check: FSETP.EQ.AND
  %select = select.f32 %c, %a, %b      ; check: SEL
  %fset = fset.eq.f32 %a, %b           ; check: FSETP.EQ.AND
                                       ; next: SEL {{.*}} 0x3f800000
  store %select, %out1[%i]
  store %fset, %out2[%i]
  ret
}
; rule: single_fcmp, single_fset

kernel @between_halves_and_singles(%a_in: in f16, %a2_in: in f32, %b_in: in f32, %out1: out f32, %out2: out f16,
    %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %b = load %b_in[%i]
  %fcvt = fcvt.f32 %a                ; check: F2F.F32.F16
  %fcvt2 = fcvt.f16 %a2              ; check: F2F.F16.F32
  %x = fcvt.f16 %a2
  %y = fcvt.f16 %b
  %concat = concat.f16x2 %x, %y      ; check: F2FP.F16
  store %fcvt, %out1[%i]
  store %fcvt2, %out2[%i]
  store %concat, %out3[%i]
  ret
}
; rule: widen, narrow, narrow_pair

; A pair is narrowed at once only where both roundings are the same.
kernel @narrowed_with_two_roundings(%a_in: in f32, %b_in: in f32, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcvt.rz.f16 %a           ; check: F2F.F16.F32.RZ
  %y = fcvt.f16 %b              ; check: F2F.F16.F32
  %r = concat.f16x2 %x, %y      ; check: PRMT {{.*}} 0x5410
  store %r, %out[%i]
  ret
}
; rule: narrow, concat_halves
; no rule: narrow_pair

kernel @integers(%a_in: in i32, %a2_in: in f32, %out1: out f32, %out2: out f32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %fcvt_from_s = fcvt_from_s.f32 %a      ; check: I2F.S32
  %fcvt_from_u = fcvt_from_u.f32 %a      ; check: I2F.U32
  %fcvt_to_s = fcvt_to_s.i32 %a2         ; check: F2I.S32
  %fcvt_to_u = fcvt_to_u.i32 %a2         ; check: F2I.U32
  store %fcvt_from_s, %out1[%i]
  store %fcvt_from_u, %out2[%i]
  store %fcvt_to_s, %out3[%i]
  store %fcvt_to_u, %out4[%i]
  ret
}
; rule: int_to_single_s, int_to_single_u, single_to_int_s, single_to_int_u

; test: isel halu passes=pack
kernel @halves_of_another_kind(%a_in: in bf16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %fcvt = fcvt.f16 %a      ; check: F2F.F32.BF16
                           ; next: F2F.F16.F32
  store %fcvt, %out[%i]
  ret
}
; rule: across_halves

; test: isel halu
; By way of a single, exactly.
kernel @halves_to_integers(%a_in: in f16, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %fcvt_to_s = fcvt_to_s.i32 %a      ; check: F2F.F32.F16
                                     ; next: F2I.S32
  %fcvt_to_u = fcvt_to_u.i32 %a      ; check: F2F.F32.F16
                                     ; next: F2I.U32
  store %fcvt_to_s, %out1[%i]
  store %fcvt_to_u, %out2[%i]
  ret
}
; rule: half_to_int_s, half_to_int_u
