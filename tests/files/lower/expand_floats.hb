; test: lower without=fsub.f16x2
; Floats made of others, with the same one rounding.
kernel @difference(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fsub = fsub.f16x2 %a, %b
  store %fsub, %out[%i]
  ret
}
;= kernel @difference(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = fneg.f16x2 %b
;=   %fsub = fadd.f16x2 %a, %0
;=   store %fsub, %out[%i]
;=   ret
;= }
; rule: fsub_by_fadd

; test: lower without=fadd.f16x2,fmul.f16x2
kernel @sum_and_product(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fadd = fadd.f16x2 %a, %b
  %fmul = fmul.f16x2 %a, %b
  store %fadd, %out1[%i]
  store %fmul, %out2[%i]
  ret
}
;= kernel @sum_and_product(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = const.f16x2 1.0
;=   %fadd = ffma.f16x2 %a, %0, %b
;=   %1 = const.f16x2 -0.0
;=   %fmul = ffma.f16x2 %a, %b, %1
;=   store %fadd, %out1[%i]
;=   store %fmul, %out2[%i]
;=   ret
;= }
; rule: fadd_by_ffma, fmul_by_ffma

; test: lower without=fabs.f16x2,fneg.f16x2
kernel @signs(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %fneg = fneg.f16x2 %a
  %fabs = fabs.f16x2 %a
  store %fneg, %out1[%i]
  store %fabs, %out2[%i]
  ret
}
;= kernel @signs(%a_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = bitcast.i16x2 %a
;=   %1 = const.i16x2 -32768
;=   %2 = xor.i16x2 %0, %1
;=   %fneg = bitcast.f16x2 %2
;=   %3 = const.i16x2 32767
;=   %4 = and.i16x2 %0, %3
;=   %fabs = bitcast.f16x2 %4
;=   store %fneg, %out1[%i]
;=   store %fabs, %out2[%i]
;=   ret
;= }
; rule: fneg_by_xor, fabs_by_and

; test: lower without=fset.f16x2
kernel @comparison_to_one(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fset = fset.ltu.f16x2 %a, %b
  store %fset, %out[%i]
  ret
}
;= kernel @comparison_to_one(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = fcmp.ltu.f16x2 %a, %b
;=   %1 = const.f16x2 1.0
;=   %2 = const.f16x2 0.0
;=   %fset = select.f16x2 %0, %1, %2
;=   store %fset, %out[%i]
;=   ret
;= }
; rule: fset_by_select

; test: lower without=fcmp.f16x2
kernel @comparison_by_ones(%a_in: in f16x2, %b_in: in f16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %fcmp = fcmp.ltu.f16x2 %a, %b
  %fcmp_bits = mask_expand.i16x2 %fcmp
  store %fcmp_bits, %out[%i]
  ret
}
;= kernel @comparison_by_ones(%a_in: in f16x2, %b_in: in f16x2, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = fset.ltu.f16x2 %a, %b
;=   %1 = bitcast.i16x2 %0
;=   %2 = const.i16x2 0
;=   %fcmp = icmp.ne.i16x2 %1, %2
;=   %fcmp_bits = mask_expand.i16x2 %fcmp
;=   store %fcmp_bits, %out[%i]
;=   ret
;= }
; rule: fcmp_by_fset

; test: lower without=fmul.f16x2,fmul.f16
; Toward minus infinity no zero can be added to a product without a trace: it stays.
kernel @product_rounded_down(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmul.rm.f16x2 %a, %b
  store %r, %out[%i]
  ret
}
;= kernel @product_rounded_down(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %r = fmul.rm.f16x2 %a, %b
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: fmul_by_ffma
