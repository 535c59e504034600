; test: isel ptx sm=75
; Before sm_80 nothing rectifies: a mask does.
kernel @rectified_sums(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.relu.f16x2 %a, %b          ; check: add.rn.f16x2
                                       ; next: set.lt.u32.f16x2
                                       ; next: lop3.b32
  %d = fsub.relu.f16x2 %s, %b          ; check: sub.rn.f16x2
  %p = fmul.relu.f16x2 %d, %b          ; check: mul.rn.f16x2
  %r = ffma.relu.f16x2 %p, %a, %b      ; check: fma.rn.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_modified, half_fsub_modified, half_fmul_modified, half_ffma_modified, half_modified_relu
; no rule: half_fadd_fused
; never: relu

; The result is made zero where it is subnormal, after what is negative is +0.
kernel @flushed_and_rectified(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fadd.ftz.relu.f16x2 %a, %b      ; check: mul.rn.ftz.f16x2
                                       ; next: mul.rn.ftz.f16x2
                                       ; next: add.rn.f16x2
                                       ; next: set.lt.u32.f16x2
                                       ; next: lop3.b32
                                       ; next: mul.rn.ftz.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fadd_modified

; A minimum with a number other than zero is a compare and a choice.
kernel @extrema_with_numbers(%a_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %one = const.f16x2 1
  %minus = const.f16x2 -1
  %x = fmin.f16x2 %a, %one        ; check: set.lt.u32.f16x2
                                  ; next: lop3.b32
  %r = fmax.f16x2 %x, %minus      ; check: set.gt.u32.f16x2
                                  ; next: lop3.b32
  store %r, %out[%i]
  ret
}
; rule: half_fmin_number, half_fmax_number, half_nearer
; never: mul.rn

; What is not greater than zero becomes it; the least of a number and zero may be -0, which compares equal.
kernel @extrema_with_zero(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %zero = const.f16x2 0
  %r = fmax.f16x2 %a, %zero      ; check: set.gt.u32.f16x2
                                 ; next: and.b32
  %s = fmin.f16x2 %a, %zero      ; check: min.f16x2
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: half_fmax_zero, half_fmin_split
; no rule: half_fmax_number
; run: ptx: @extrema_with_zero items=6 a_in=[[nan, -0], [0, 1], [0xfe00, inf], [-inf, -1], [5e-8, -5e-8], [0x7c01, 0xfc01]] out1=zeros(6) out2=zeros(6)

kernel @extrema(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fmin.nan.f16x2 %a, %b          ; check: set.nan.u32.f16x2
                                      ; next: lop3.b32
                                      ; next: set.ltu.u32.f16x2
                                      ; next: lop3.b32
                                      ; next: set.le.u32.f16x2
                                      ; next: lop3.b32
  %r = fmax.ftz.nan.f16x2 %x, %b      ; check: mul.rn.ftz.f16x2
  store %r, %out[%i]
  ret
}
; rule: half_fmin_compared, half_fmax_compared, half_number_or

kernel @single_extrema(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fmin.nan.f32 %a, %b      ; check: min.f32
                                ; next: setp.nan.f32
                                ; next: selp.b32
  %r = fmax.nan.f32 %x, %b      ; check: max.f32
  store %r, %out[%i]
  ret
}
; rule: single_fmin_nan, single_fmax_nan, single_number_or_nan
; never: NaN

kernel @differences_of_halfwords(%a_in: in i16x2, %b_in: in i16x2, %out1: out i16x2, %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = sub.i16x2 %a, %b      ; check: vsub2.u32.u32.u32
  %r = neg.i16x2 %a          ; check: vsub2.u32.u32.u32
  store %x, %out1[%i]
  store %r, %out2[%i]
  ret
}
; rule: video_sub, video_neg
; no rule: halfwords_sub, halfwords_neg

; Trees of minima and maxima are taken apart when they are expanded.
kernel @tree_of_extrema(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %s = fadd.f16x2 %b, %c
  %lo = fmin.f16x2 %a, %s       ; check: min.f16x2
  %hi = fmax.f16x2 %a, %s       ; check: max.f16x2
  %z = const.i32 0
  %t = icmp.eq.i32 %i, %z
  br_if %t, ^small(%lo), ^large
^large:
  %m = fmin.f16x2 %hi, %c
  %r = fmax.f16x2 %lo, %m
  br ^small(%r)
^small(%v: f16x2):
  store %v, %out[%i]
  ret
}
; rule: half_fmin_split, half_fmax_split
; run: ptx: @tree_of_extrema items=8 a_in=[[nan, -0], [0, 1], [nan, nan], [-0, 0], [inf, -inf], [-1, 2], [0x7c01, 0xfc01], [5e-8, -5e-8]] b_in=[[nan, 0], [-0, 3], [1, nan], [0, -0], [-inf, inf], [nan, -2], [0xfdff, 0x7dff], [1, 0]] c_in=[[0, 0], [-0, nan], [nan, 1], [0, -0], [inf, inf], [nan, 0], [1, 2], [-1, 0]] out=zeros(8)
; run: ptx: @tree_of_extrema items=1000 a_in=random(1000, 1) b_in=random(1000, 2) c_in=random(1000, 3) out=zeros(1000)

; Numbers above +0 and NaN stay; only a NaN from memory may be another than the one NaN.
kernel @rectified_to_plus_zero(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 0
  %x = fmax.nan.f16x2 %a, %k       ; check: set.gtu.u32.f16x2
                                   ; next: and.b32
                                   ; next: mul.rn.f16x2
  %s = fsub.f16x2 %x, %b
  %r = fmax.nan.f16x2 %s, %k       ; check: set.gtu.u32.f16x2
                                   ; next: and.b32
  store %r, %out[%i]
  ret
}
; rule: half_fmax_nan_zero, half_fmax_nan_zero_result, half_positive_or_nan
