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
  %r = ffma.sat.f16x2 %p, %b, %c          ; check: fma.rn.sat.f16x2
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
  %r = ffma.bf16x2 %p, %b, %c           ; check: fma.rn.bf16x2
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

; Only FMA rectifies, and it makes -0 +0: a sum with a number is never -0, and a maximum with +0 is what it does.
kernel @rectified(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 -1.5
  %s = fadd.relu.f16x2 %a, %k      ; check: fma.rn.relu.f16x2
  %d = fsub.relu.f16x2 %k, %s      ; check: fma.rn.relu.f16x2
  %p = ffma.f16x2 %d, %a, %b       ; check: fma.rn.relu.f16x2
  %z = const.f16x2 0
  %r = fmax.nan.f16x2 %p, %z
  store %r, %out[%i]
  ret
}
; rule: half_fadd_number, half_fsub_from_number, half_ffma_relu
; never: lop3

; Elsewhere a mask rectifies, which keeps -0.
kernel @rectified_apart(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.relu.f16x2 %a, %b      ; check: add.rn.f16x2
                                   ; next: set.lt.u32.f16x2
                                   ; next: lop3.b32
  %r = fmul.relu.f16x2 %s, %b      ; check: mul.rn.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_modified, half_fmul_modified, half_modified_relu
; never: relu
; run: ptx: @rectified_apart items=3 a_in=[[-0.0, -1.0], [0.5, 0x8400], [nan, -inf]] b_in=[[-0.0, 0.5], [-0.5, 0], [1.0, 1.0]] out=zeros(3) -> out=[0x00000000, 0x00008000, 0x00007fff]

; Instructions flush before they round, the IR flushes rounded results: a product that rounds up to the least normal number stays.
kernel @flushed_apart(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmul.ftz.f16x2 %a, %b       ; check: mul.rn.ftz.f16x2
                                   ; next: mul.rn.ftz.f16x2
                                   ; next: mul.rn.f16x2
                                   ; next: mul.rn.ftz.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fmul_modified, half_flushed, half_modified
; run: ptx, halu: @flushed_apart items=2 a_in=[[0x07ff, 0x87ff], [0x03ff, 0x0800]] b_in=[0.5, 0.5] out=zeros(2) -> out=[0x84000400, 0x04000000]

; Other roundings are those of f32.
kernel @truncated(%a_in: in f16, %b_in: in f16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmul.rz.f16 %a, %b          ; check: fma.rz.f32
                                   ; next: cvt.rz.f16.f32
  store %r, %out[%i]
  ret
}
; rule: half_fmul_directed, half_by_single, half_scalar_by_single, half_lane_by_single, half_lane

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
