; test: isel ptx sm=75
; Before sm_80 a bf16 is the upper half of an f32: sums and products are made there and rounded once more.
kernel @sums(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.bf16x2 %a, %b         ; check: shl.b32
                                  ; next: shl.b32
                                  ; next: add.rn.f32
                                  ; next: shr.u32
                                  ; next: and.b32
                                  ; next: add.u32
                                  ; next: add.u32
                                  ; next: setp.nan.f32
                                  ; next: selp.b32
  %d = fsub.sat.bf16x2 %s, %b     ; check: sub.rn.f32
                                  ; next: max.f32
                                  ; next: min.f32
  %r = fmul.relu.bf16x2 %d, %b    ; check: mul.rn.f32
                                  ; check: setp.lt.f32
  store %r, %out[%i]
  ret
}
; rule: bf16_fadd_pair, bf16_fsub_pair, bf16_fmul_pair, bf16_finished, bf16_finished_sat, bf16_finished_relu, bf16_rounded, bf16_upper_halves
; no rule: half_fadd_fused
; never: bf16
; run: ptx: @sums items=4 a_in=[[1, 2], [0.5, -3], [nan, -0], [1e-40, 3e38]] b_in=[[1, 0.5], [-0.25, 3], [1, -0], [1e-40, 3e38]] out=zeros(4)

; A product and a sum in one rounding: rounded to odd first, so that there is no tie where there was none.
kernel @fused(%a_in: in bf16x2, %b_in: in bf16x2, %c_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %r = ffma.bf16x2 %a, %b, %c     ; check: mul.rn.f32
                                  ; next: fma.rn.f32
                                  ; next: sub.rn.f32
                                  ; next: sub.rn.f32
                                  ; next: sub.rn.f32
                                  ; next: sub.rn.f32
                                  ; next: add.rn.f32
                                  ; next: setp.ne.f32
                                  ; next: xor.b32
                                  ; next: shr.s32
                                  ; next: add.u32
                                  ; next: or.b32
                                  ; next: selp.b32
  store %r, %out[%i]
  ret
}
; rule: bf16_ffma_pair, bf16_fused_to_odd, bf16_to_odd
; Halfway between two, and a little beyond, to either side.
; run: ptx: @fused items=2 a_in=[[1.0078125, 1.0078125], [1.0078125, 1.0078125]] b_in=[[1.5, 1.5], [1.5, 1.5]] c_in=[[1e-30, -1e-30], [0, 1e-44]] out=zeros(2)

; One lane of a scalar, extrema and conversions.
kernel @scalars(%a_in: in bf16, %b_in: in bf16, %x_in: in f32, %h_in: in f16, %n_in: in i32, %out1: out bf16, %out2: out bf16,
    %out3: out bf16, %out4: out bf16, %out5: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %h = load %h_in[%i]
  %n = load %n_in[%i]
  %s = fadd.bf16 %a, %b
  %d = fsub.bf16 %s, %b
  %p = fmul.bf16 %d, %b
  %q = ffma.bf16 %p, %a, %b
  %m = fmin.bf16 %q, %a           ; check: min.f32
                                  ; next: shr.u32
  %g = fmax.nan.bf16 %m, %b       ; check: max.f32
                                  ; next: setp.nan.f32
                                  ; next: selp.b32
  %y = fcvt.bf16 %x
  %z = fcvt.rz.bf16 %h
  %u = fcvt_from_s.bf16 %n        ; check: cvt.rn.f32.s32
                                  ; next: cvt.rzi.s32.f32
  %v = fcvt_from_u.bf16 %n        ; check: cvt.rn.f32.u32
  %w = fcvt.f32 %a                ; check: mul.rn.f32 {{.*}}, 0f3f800000
  %c = fadd.bf16 %u, %v
  store %g, %out1[%i]
  store %y, %out2[%i]
  store %z, %out3[%i]
  store %c, %out4[%i]
  store %w, %out5[%i]
  ret
}
; rule: bf16_fadd, bf16_fsub, bf16_fmul, bf16_ffma, bf16_fmin, bf16_fmax, bf16_single_least, bf16_single_greatest, bf16_or_number, bf16_or_nan, bf16_upper_half
; rule: bf16_narrow, bf16_narrowed, bf16_truncated, bf16_from_int_s, bf16_from_int_u, bf16_int_to_odd, widen
; run: ptx: @scalars items=3 a_in=[1, nan, -0] b_in=[3, 1, 0] x_in=[1.00390625, nan, 3.4e38] h_in=[0.1, nan, 65504] n_in=[16777217, -2147483647, -1] out1=zeros(3) out2=zeros(3) out3=zeros(3) out4=zeros(3) out5=zeros(3)

; Lanes of extrema.
kernel @extrema(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = fmin.nan.bf16x2 %a, %b
  %g = fmax.bf16x2 %m, %b         ; check: max.f32
                                  ; check: max.f32
                                  ; check: st.global.b32
  store %g, %out[%i]
  ret
}
; rule: bf16_fmin_pair, bf16_fmax_pair
; run: ptx: @extrema items=2 a_in=[[1, nan], [-0, nan]] b_in=[[2, 3], [0, nan]] out=zeros(2)

; test: isel ptx passes=pack sm=75
; As it stands, without the passes that take a conversion of halves apart.
kernel @across_halves(%a_in: in f16, %out: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.bf16 %a        ; check: cvt.f32.f16
                           ; next: shr.u32
  store %r, %out[%i]
  ret
}
; rule: bf16_of_f16
