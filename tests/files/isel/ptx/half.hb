; test: isel ptx
; Packed halves: an instruction an op, always rounded by itself.
kernel @sums_and_products(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = fadd.f16x2 %a, %b                  ; check: add.rn.f16x2
  %d = fsub.ftz.f16x2 %s, %b              ; check: sub.rn.ftz.f16x2
  %p = fmul.sat.f16x2 %d, %b              ; check: mul.rn.sat.f16x2
  %r = ffma.ftz.sat.f16x2 %p, %b, %c      ; check: fma.rn.ftz.sat.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd, half_fsub, half_fmul, half_ffma

kernel @bf16_sums_and_products(%a_in: in bf16x2, %b_in: in bf16x2, %c_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = fadd.bf16x2 %a, %b               ; check: add.rn.bf16x2
  %d = fsub.bf16x2 %s, %b               ; check: sub.rn.bf16x2
  %p = fmul.bf16x2 %d, %b               ; check: mul.rn.bf16x2
  %r = ffma.relu.bf16x2 %p, %b, %c      ; check: fma.rn.relu.bf16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd, half_fsub, half_fmul, half_ffma

; A scalar is the low lane.
kernel @scalars(%a_in: in f16, %b_in: in f16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fadd.f16 %a, %b      ; check: add.rn.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd

; Only FMA rectifies: a sum is a product with 1, a product has a zero added.
kernel @rectified(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.relu.f16x2 %a, %b      ; check: fma.rn.relu.f16x2
  %d = fsub.relu.f16x2 %s, %b      ; check: fma.rn.relu.f16x2
  %r = fmul.relu.f16x2 %d, %a      ; check: fma.rn.relu.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_fused, half_fsub_fused, half_fmul_fused

; bf16 has no clamp: minimum and maximum.
kernel @bf16_clamped(%a_in: in bf16x2, %b_in: in bf16x2, %c_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = fadd.sat.bf16x2 %a, %b          ; check: fma.rn.bf16x2
                                       ; next: max.bf16x2
                                       ; next: min.bf16x2
  %d = fsub.sat.bf16x2 %s, %b          ; check: fma.rn.bf16x2
  %p = fmul.sat.bf16x2 %d, %b          ; check: fma.rn.bf16x2
  %r = ffma.sat.bf16x2 %p, %b, %c      ; check: fma.rn.bf16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_bf16_sat, half_fsub_bf16_sat, half_fmul_bf16_sat, half_ffma_bf16_sat, half_clamp_to_one

kernel @extrema(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fmin.ftz.f16x2 %a, %b      ; check: min.ftz.f16x2
  %r = fmax.nan.f16x2 %s, %b      ; check: max.NaN.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fmin, half_fmax
; never: set.

kernel @compares(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fcmp.ltu.ftz.f16x2 %a, %b      ; check: set.ltu.ftz.u32.f16x2
  %r = select.f16x2 %m, %a, %b        ; check: lop3.b32
  %s = fset.ge.f16x2 %r, %b           ; check: set.ge.f16x2.f16x2
  store %s, %out[%i]
  ret
}
; rule: half_fcmp, half_fset

; One lane of a compare goes to a predicate.
kernel @compared_lane(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fcmp.lt.f16x2 %a, %b
  %c = extract.i1x2 %m, 1           ; check: {{setp.lt.f16x2 _.%p}}
  %r = select.f16x2 %c, %a, %b      ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: half_fcmp_lane
; no rule: half_fcmp

kernel @compared_scalars(%a_in: in f16, %b_in: in f16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = fcmp.eq.f16 %a, %b         ; check: setp.eq.f16x2
  %r = select.f16 %c, %a, %b      ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: half_fcmp_scalar

; Signs by the instructions that others fold.
kernel @signs(%a_in: in f16x2, %b_in: in bf16x2, %c_in: in f32, %out1: out f16x2, %out2: out bf16x2, %out3: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = fneg.f16x2 %a       ; check: neg.f16x2
  %y = fabs.bf16x2 %b      ; check: abs.bf16x2
  %z = fneg.f32 %c         ; check: neg.f32
  %p = ffma.f16x2 %x, %a, %a
  %q = fmax.bf16x2 %y, %b
  %r = ffma.f32 %z, %c, %c
  store %p, %out1[%i]
  store %q, %out2[%i]
  store %r, %out3[%i]
  ret
}
; rule: float_fneg, float_fabs
; never: xor

; Halves are taken by moves, which others fold; PRMT is not folded.
kernel @halves_of_words(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = shuffle.f16x2 %b, %b, [1, 1]      ; check: {{mov.b32 ._, %h}}
                                         ; next: mov.b32
  %r = fmul.f16x2 %a, %x                 ; check: mul.rn.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fmul, shuffle_word
; never: prmt
