; test: isel ptx
kernel @singles(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = fadd.f32 %a, %b          ; check: add.rn.f32
  %d = fsub.f32 %s, %c          ; check: sub.rn.f32
  %p = fmul.f32 %d, %b          ; check: mul.rn.f32
  %q = ffma.f32 %p, %b, %c      ; check: fma.rn.f32
  %x = fdiv.f32 %q, %b          ; check: div.rn.f32
  %r = fsqrt.f32 %x             ; check: sqrt.rn.f32
  store %r, %out[%i]
  ret
}
; rule: single_fadd, single_fsub, single_fmul, single_ffma, single_fdiv, single_fsqrt

kernel @extrema(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fmin.f32 %a, %b          ; check: min.f32
  %r = fmax.nan.f32 %x, %b      ; check: max.NaN.f32
  store %r, %out[%i]
  ret
}
; rule: single_fmin, single_fmax
; never: setp

kernel @compares(%a_in: in f32, %b_in: in f32, %out1: out f32, %out2: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = fcmp.geu.f32 %a, %b        ; check: setp.geu.f32
  %r = select.f32 %c, %a, %b      ; check: selp.b32
  %s = fset.lt.f32 %a, %b         ; check: setp.lt.f32
                                  ; next: selp.b32 {{.*}} 0x3f800000, 0
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: single_fcmp, single_fset

kernel @widened(%a_in: in f16, %b_in: in bf16, %out1: out f32, %out2: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcvt.f32 %a      ; check: {{mov.b32 .%h[0-9]+, _}}
                        ; next: cvt.f32.f16
  %y = fcvt.f32 %b      ; check: {{mov.b32 .%h[0-9]+, _}}
                        ; next: cvt.f32.bf16
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: widen

kernel @narrowed(%a_in: in f32, %out1: out f16, %out2: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = fcvt.rp.f16 %a       ; check: cvt.rp.f16.f32
  %y = fcvt.rz.bf16 %a      ; check: cvt.rz.bf16.f32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: narrow

; Two are narrowed and packed at once.
kernel @narrowed_pair(%a_in: in f32, %b_in: in f32, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcvt.f16 %a
  %y = fcvt.f16 %b
  %r = concat.f16x2 %x, %y      ; check: cvt.rn.f16x2.f32
  store %r, %out[%i]
  ret
}
; rule: narrow_pair
; no rule: narrow

; But not in every rounding.
kernel @narrowed_apart(%a_in: in f32, %b_in: in f32, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcvt.rp.f16 %a      ; check: cvt.rp.f16.f32
  %y = fcvt.rp.f16 %b      ; check: mov.b32
                           ; next: cvt.rp.f16.f32
  %r = concat.f16x2 %x, %y
  store %r, %out[%i]
  ret
}
; rule: narrow, concat_halves
; no rule: narrow_pair

kernel @from_integers(%a_in: in i32, %out1: out f32, %out2: out f32, %out3: out f16, %out4: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = fcvt_from_s.f32 %a         ; check: cvt.rn.f32.s32
  %y = fcvt_from_u.f32 %a         ; check: cvt.rn.f32.u32
  %z = fcvt_from_s.rz.f16 %a      ; check: cvt.rz.f16.s32
  %w = fcvt_from_u.bf16 %a        ; check: cvt.rn.bf16.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  store %z, %out3[%i]
  store %w, %out4[%i]
  ret
}
; rule: int_to_single_s, int_to_single_u, int_to_half_s, int_to_half_u

kernel @to_integers(%a_in: in f32, %b_in: in f16, %c_in: in bf16, %out1: out i32, %out2: out i32, %out3: out i32,
    %out4: out i32, %out5: out i32, %out6: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = fcvt_to_s.i32 %a      ; check: cvt.rzi.s32.f32
  %y = fcvt_to_u.i32 %a      ; check: cvt.rzi.u32.f32
  %z = fcvt_to_s.i32 %b      ; check: mov.b32
                             ; next: cvt.rzi.s32.f16
  %w = fcvt_to_u.i32 %b
  %u = fcvt_to_s.i32 %c      ; check: cvt.f32.bf16
                             ; next: cvt.rzi.s32.f32
  %v = fcvt_to_u.i32 %c
  store %x, %out1[%i]
  store %y, %out2[%i]
  store %z, %out3[%i]
  store %w, %out4[%i]
  store %u, %out5[%i]
  store %v, %out6[%i]
  ret
}
; rule: single_to_int_s, single_to_int_u, half_to_int_s, half_to_int_u, bf16_to_int_s, bf16_to_int_u
