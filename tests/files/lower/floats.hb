; test: lower
; Algebra of floats: little holds of every NaN, zero and rounding.
kernel @signs(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2, %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = fneg.f16x2 %a
  %fneg = fneg.f16x2 %x
  %x2 = fabs.f16x2 %a
  %fabs = fabs.f16x2 %x2
  %x3 = fneg.f16x2 %a
  %fabs2 = fabs.f16x2 %x3
  store %fneg, %out1[%i]
  store %fabs, %out2[%i]
  store %fabs2, %out3[%i]
  ret
}
;= kernel @signs(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2, %out3: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x2 = fabs.f16x2 %a
;=   store %a, %out1[%i]
;=   store %x2, %out2[%i]
;=   store %x2, %out3[%i]
;=   ret
;= }
; rule: fneg_fneg, fabs_fabs, fabs_fneg

kernel @signs_in_sums(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2, %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = fneg.f16x2 %b
  %fadd = fadd.f16x2 %a, %n
  %n2 = fneg.f16x2 %a
  %fadd2 = fadd.f16x2 %n2, %b
  %n3 = fneg.f16x2 %b
  %fsub = fsub.f16x2 %a, %n3
  store %fadd, %out1[%i]
  store %fadd2, %out2[%i]
  store %fsub, %out3[%i]
  ret
}
;= kernel @signs_in_sums(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2, %out3: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %fadd = fsub.f16x2 %a, %b
;=   %fadd2 = fsub.f16x2 %b, %a
;=   %fsub = fadd.f16x2 %a, %b
;=   store %fadd, %out1[%i]
;=   store %fadd2, %out2[%i]
;=   store %fsub, %out3[%i]
;=   ret
;= }
; rule: fadd_fneg, fneg_fadd, fsub_fneg

kernel @signs_in_products(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = fneg.f16x2 %a
  %n = fneg.f16x2 %b
  %fmul = fmul.f16x2 %m, %n
  %m2 = fneg.f16x2 %a
  %n2 = fneg.f16x2 %b
  %ffma = ffma.f16x2 %m2, %n2, %c
  store %fmul, %out1[%i]
  store %ffma, %out2[%i]
  ret
}
;= kernel @signs_in_products(%a_in: in f16x2, %b_in: in f16x2, %c_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %fmul = fmul.f16x2 %a, %b
;=   %ffma = ffma.f16x2 %a, %b, %c
;=   store %fmul, %out1[%i]
;=   store %ffma, %out2[%i]
;=   ret
;= }
; rule: fmul_fnegs, ffma_fnegs

; A single sign stays: selection has it for nothing.
kernel @one_sign_in_a_product(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = fneg.f16x2 %a
  %r = fmul.f16x2 %n, %b
  store %r, %out[%i]
  ret
}
;= kernel @one_sign_in_a_product(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %n = fneg.f16x2 %a
;=   %r = fmul.f16x2 %n, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: fmul_fnegs

kernel @neutral_operands(%a_in: in f16x2, %c_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %c = load %c_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 1.0
  %ffma = ffma.f16x2 %a, %k, %c
  %k2 = const.f16x2 -0.0
  %ffma2 = ffma.f16x2 %a, %b, %k2
  store %ffma, %out1[%i]
  store %ffma2, %out2[%i]
  ret
}
;= kernel @neutral_operands(%a_in: in f16x2, %c_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %c = load %c_in[%i]
;=   %b = load %b_in[%i]
;=   %ffma = fadd.f16x2 %a, %c
;=   %ffma2 = fmul.f16x2 %a, %b
;=   store %ffma, %out1[%i]
;=   store %ffma2, %out2[%i]
;=   ret
;= }
; rule: ffma_one, ffma_negative_zero

; Toward minus infinity a sum of unlike zeros is -0.
kernel @negative_zero_rounded_down(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 -0.0
  %r = ffma.rm.f16x2 %a, %b, %k
  store %r, %out[%i]
  ret
}
;= kernel @negative_zero_rounded_down(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %k = const.f16x2 -0.0
;=   %r = ffma.rm.f16x2 %a, %b, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: ffma_negative_zero

; A zero product with +0 added is +0, whatever its sign.
kernel @positive_zero(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f16x2 0
  %r = ffma.f16x2 %a, %b, %k
  store %r, %out[%i]
  ret
}
;= kernel @positive_zero(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %k = const.f16x2 0.0
;=   %r = ffma.f16x2 %a, %b, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: ffma_negative_zero

; A product with 1 makes NaNs the one NaN.
kernel @product_with_one(%a_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.f16x2 1
  %r = fmul.f16x2 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @product_with_one(%a_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.f16x2 1.0
;=   %r = fmul.f16x2 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: mul_one, ffma_one

; A sum with +0 makes -0 +0.
kernel @sum_with_zero(%a_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.f16x2 0
  %r = fadd.f16x2 %a, %k
  store %r, %out[%i]
  ret
}
;= kernel @sum_with_zero(%a_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %k = const.f16x2 0.0
;=   %r = fadd.f16x2 %a, %k
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: add_zero

; Infinity less itself is NaN.
kernel @difference_of_itself(%a_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fsub.f16x2 %a, %a
  store %r, %out[%i]
  ret
}
;= kernel @difference_of_itself(%a_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %r = fsub.f16x2 %a, %a
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: sub_self

; A product and a sum round twice.
kernel @not_contracted(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = fmul.f32 %a, %b
  %r = fadd.f32 %m, %c
  store %r, %out[%i]
  ret
}
;= kernel @not_contracted(%a_in: in f32, %b_in: in f32, %c_in: in f32, %out: out f32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %m = fmul.f32 %a, %b
;=   %r = fadd.f32 %m, %c
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: fadd_by_ffma, ffma_one

; By way of a single, of which only the second conversion rounds.
kernel @of_two_kinds(%a_in: in f16, %out: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %fcvt = fcvt.bf16 %a
  store %fcvt, %out[%i]
  ret
}
;= kernel @of_two_kinds(%a_in: in f16, %out: out bf16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = fcvt.f32 %a
;=   %fcvt = fcvt.bf16 %0
;=   store %fcvt, %out[%i]
;=   ret
;= }
; rule: fcvt_by_single
