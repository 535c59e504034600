; test: isel ptx sm=80
; On sm_80 bf16 has no sums and products but FMA.
kernel @bf16_by_fma(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.bf16x2 %a, %b      ; check: fma.rn.bf16x2
  %d = fsub.bf16x2 %s, %b      ; check: fma.rn.bf16x2
  %r = fmul.bf16x2 %d, %b      ; check: fma.rn.bf16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_fused, half_fsub_fused, half_fmul_fused
; no rule: half_fadd

; Nor compares: a bf16 is the upper half of an f32.
kernel @bf16_compares(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fcmp.ltu.bf16x2 %a, %b      ; check: shl.b32
                                   ; next: shl.b32
                                   ; next: setp.ltu.f32
  %r = select.bf16x2 %m, %a, %b
  %s = fset.ge.bf16x2 %r, %b
  store %s, %out[%i]
  ret
}
; rule: bf16_fcmp, bf16_fset, bf16_single_masks, bf16_low_single, bf16_high_single
; no rule: half_fcmp, half_fset

kernel @bf16_scalars(%a_in: in bf16, %b_in: in bf16, %out: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = fcmp.lt.bf16 %a, %b      ; check: shl.b32
                                ; next: shl.b32
                                ; next: setp.lt.f32
  %r = select.bf16 %c, %a, %b
  store %r, %out[%i]
  ret
}
; rule: bf16_fcmp_scalar
; no rule: half_fcmp_scalar
