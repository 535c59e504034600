; test: isel halu
; Packed halves: an instruction an op, with the modifiers that it has.
kernel @sums_and_products(%a_in: in f16x2, %b_in: in f16x2, %a2_in: in bf16x2, %b2_in: in bf16x2, %c_in: in bf16x2,
    %out1: out f16x2, %out2: out bf16x2, %out3: out f16x2, %out4: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                    ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                    ; check: LDG {{.*}} rd=[[B2:v[0-9]+]]
  %c = load %c_in[%i]                      ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %fadd = fadd.f16x2 %a, %b                ; check: HADD2{{.*}} ra=[[A]], r32=[[B]]
  %fsub = fsub.rz.bf16x2 %a2, %b2          ; check: HADD2.BF16_V2.RZ {{.*}} -RZ{{.*}} ra=[[A2]], r32=[[B2]]
  %fmul = fmul.f16x2 %a, %b                ; check: HMUL2{{.*}} ra=[[A]], r32=[[B]]
  %ffma = ffma.rz.bf16x2 %a2, %b2, %c      ; check: HFMA2.BF16_V2.RZ{{.*}} ra=[[A2]], r32=[[B2]], r64=[[C]]
  store %fadd, %out1[%i]
  store %fsub, %out2[%i]
  store %fmul, %out3[%i]
  store %ffma, %out4[%i]
  ret
}
; rule: half_fadd, half_fsub, half_fmul, half_ffma

; The rounding of the op is that of the instruction.
kernel @rounding(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out1: out f16x2, %out2: out f16x2,
    %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %fadd = fadd.rz.f16x2 %a, %b          ; check: HADD2.RZ
  %fmul = fmul.rp.f16x2 %a, %b          ; check: HMUL2.RP
  %ffma = ffma.rm.f16x2 %a, %b, %c      ; check: HFMA2.RM
  store %fadd, %out1[%i]
  store %fmul, %out2[%i]
  store %ffma, %out3[%i]
  ret
}
; rule: half_fadd, half_fmul, half_ffma

kernel @flushed_and_clamped(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fadd.ftz.f16x2 %a, %b             ; check: HADD2.FTZ
  %y = fmul.sat.f16x2 %x, %b             ; check: HMUL2.SAT
  %r = fsub.rm.ftz.sat.f16x2 %y, %a      ; check: HADD2.FTZ.SAT.RM {{.*}} -RZ
  store %r, %out[%i]
  ret
}
; rule: half_fadd, half_fmul, half_fsub

; Only HFMA2 rectifies: a sum is a product with 1, a product has a zero added.
kernel @rectified(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2, %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                 ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                 ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %fadd = fadd.relu.f16x2 %a, %b      ; check: HFMA2.RELU {{.*}} 1, 1{{.*}} ra=[[A]], r64=[[B]]
  %fsub = fsub.relu.f16x2 %a, %b      ; check: HFMA2.RELU {{.*}} 1, 1, -RZ{{.*}} ra=[[A]], r64=[[B]]
  %fmul = fmul.relu.f16x2 %a, %b      ; check: HFMA2.RELU {{.*}} -0, -0{{.*}} ra=[[A]], r64=[[B]]
  store %fadd, %out1[%i]
  store %fsub, %out2[%i]
  store %fmul, %out3[%i]
  ret
}
; rule: half_fadd_relu, half_fsub_relu, half_fmul_relu

kernel @rectified_fma(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %r = ffma.relu.f16x2 %a, %b, %c      ; check: HFMA2.RELU
  store %r, %out[%i]
  ret
}
; rule: half_ffma

; Where unlike zeros add to -0, the zero that keeps the sign of a product is +0.
kernel @zero_of_the_sign(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmul.rm.relu.f16x2 %a, %b      ; check: HFMA2.RELU.RM
  store %r, %out[%i]
  ret
}
; rule: half_fmul_relu

; bf16 has no clamp: a maximum and a minimum are one.
kernel @clamped_bf16(%a_in: in bf16x2, %b_in: in bf16x2, %out1: out bf16x2, %out2: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fadd = fadd.sat.bf16x2 %a, %b      ; check: HADD2.BF16_V2
                                      ; next: HMNMX2.BF16_V2
                                      ; next: HMNMX2.BF16_V2 {{.*}} 1, 1
  %fsub = fsub.sat.bf16x2 %a, %b      ; check: HADD2.BF16_V2 {{.*}} -RZ
                                      ; next: HMNMX2.BF16_V2
                                      ; next: HMNMX2.BF16_V2 {{.*}} 1, 1
  store %fadd, %out1[%i]
  store %fsub, %out2[%i]
  ret
}
; rule: half_fadd_bf16_sat, half_fsub_bf16_sat, half_clamp_to_one

kernel @clamped_bf16_products(%a_in: in bf16x2, %b_in: in bf16x2, %c_in: in bf16x2, %out1: out bf16x2,
    %out2: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %fmul = fmul.sat.bf16x2 %a, %b          ; check: HMUL2.BF16_V2
                                          ; next: HMNMX2.BF16_V2
                                          ; next: HMNMX2.BF16_V2 {{.*}} 1, 1
  %ffma = ffma.sat.bf16x2 %a, %b, %c      ; check: HFMA2.BF16_V2
                                          ; next: HMNMX2.BF16_V2
                                          ; next: HMNMX2.BF16_V2 {{.*}} 1, 1
  store %fmul, %out1[%i]
  store %ffma, %out2[%i]
  ret
}
; rule: half_fmul_bf16_sat, half_ffma_bf16_sat

; f16 has one.
kernel @clamped_f16(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fadd.sat.f16x2 %a, %b      ; check: HADD2.SAT
  store %r, %out[%i]
  ret
}
; rule: half_fadd
; no rule: half_fadd_bf16_sat, half_clamp_to_one
; never: HMNMX2

kernel @extremes(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fmin = fmin.f16x2 %a, %b      ; check: HMNMX2
  %fmax = fmax.f16x2 %a, %b      ; check: HMNMX2
  store %fmin, %out1[%i]
  store %fmax, %out2[%i]
  ret
}
; rule: half_fmin, half_fmax

kernel @extremes_with_nan(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fmin.nan.f16x2 %a, %b      ; check: HMNMX2.NAN
  %r = fmax.ftz.f16x2 %x, %b      ; check: HMNMX2.FTZ
  store %r, %out[%i]
  ret
}
; rule: half_fmin, half_fmax

; As a mask, as ones and zeros, and as a predicate.
kernel @comparisons(%a_in: in f16x2, %b_in: in f16x2, %a2_in: in f16, %b2_in: in f16, %out1: out i16x2,
    %out2: out f16x2, %out3: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %m = fcmp.eq.f16x2 %a, %b               ; check: HSET2.EQ.AND
  %mask_expand = mask_expand.i16x2 %m
  %fset = fset.eq.f16x2 %a, %b            ; check: HSET2.EQ.AND.BF
  %m2 = fcmp.eq.f16 %a2, %b2              ; check: HSETP2.EQ.AND
  %select = select.f16 %m2, %a2, %b2      ; check: SEL
  store %mask_expand, %out1[%i]
  store %fset, %out2[%i]
  store %select, %out3[%i]
  ret
}
; rule: half_fcmp, half_fset, half_fcmp_scalar

; Of one lane of a comparison, a predicate.
kernel @one_comparison(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fcmp.ltu.f16x2 %a, %b
  %c = extract.i1x2 %m, 0                ; check: HSETP2.LTU.AND
  %select = select.f16x2 %c, %a, %b      ; check: SEL
  store %select, %out[%i]
  ret
}
; rule: half_fcmp_lane

; A lane is compared alone, also where the whole mask is needed.
kernel @comparison_used_twice(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fcmp.lt.f16x2 %a, %b         ; check: HSET2.LT.AND
  %c = extract.i1x2 %m, 0           ; check: HSETP2.LT.AND
  %s = select.f16x2 %m, %a, %b      ; check: LOP3 {{.*}} 0xca
  %r = select.f16x2 %c, %s, %b      ; check: SEL
  store %r, %out[%i]
  ret
}
; rule: half_fcmp_lane, half_fcmp

; Alone, a sign is changed in the word.
kernel @signs(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %fneg = fneg.f16x2 %a      ; check: LOP3 {{.*}} 0x80008000, {{.*}} 0x3c
  %fabs = fabs.f16x2 %a      ; check: LOP3 {{.*}} 0x7fff7fff, {{.*}} 0xc0
  store %fneg, %out1[%i]
  store %fabs, %out2[%i]
  ret
}
; rule: float_fneg, float_fabs

; A product and a sum round twice.
kernel @not_contracted(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = fmul.f16x2 %a, %b      ; check: HMUL2
  %r = fadd.f16x2 %m, %c      ; check: HADD2
  store %r, %out[%i]
  ret
}
; rule: half_fmul, half_fadd
; no rule: half_ffma
; never: HFMA2

; Where both say `contract` they round once; a sign is the operand's.
kernel @contracted(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = fmul.contract.f16x2 %a, %b
  %s = fadd.contract.f16x2 %c, %m      ; check: HFMA2
  %r = fsub.relu.contract.f16x2 %s, %m      ; next: HFMA2.RELU RZ, -RZ
  store %r, %out[%i]
  ret
}
; rule: half_ffma
; never: HMUL2

; One of the two is not enough.
kernel @contracted_by_one(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = fmul.f32 %a, %b      ; check: FMUL
  %r = fadd.contract.f32 %m, %c      ; check: FADD
  store %r, %out[%i]
  ret
}
; no rule: single_ffma
; never: FFMA
