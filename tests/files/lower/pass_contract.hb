; test: lower passes=contract
; Sums and differences with a product on either side.
kernel @sums_and_differences_with_a_product_on_either_side(%a: f16x2, %b: f16x2, %x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %c = load %x[%i]
  %m = fmul.contract.f16x2 %a, %b
  %r0 = fadd.contract.f16x2 %m, %c
  %r1 = fadd.contract.f16x2 %c, %m
  %r2 = fsub.contract.f16x2 %m, %c
  %r3 = fsub.contract.f16x2 %c, %m
  store %r0, %y[%i]
  store %r1, %y[%i]
  store %r2, %y[%i]
  store %r3, %y[%i]
  ret
}
;= kernel @sums_and_differences_with_a_product_on_either_side(%a: f16x2, %b: f16x2, %x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %c = load %x[%i]
;=   %m = fmul.f16x2 %a, %b
;=   %r0 = ffma.f16x2 %a, %b, %c
;=   %r1 = ffma.f16x2 %a, %b, %c
;=   %0 = fneg.f16x2 %c
;=   %r2 = ffma.f16x2 %a, %b, %0
;=   %1 = fneg.f16x2 %a
;=   %r3 = ffma.f16x2 %1, %b, %c
;=   store %r0, %y[%i]
;=   store %r1, %y[%i]
;=   store %r2, %y[%i]
;=   store %r3, %y[%i]
;=   ret
;= }

; test: lower passes=contract,dce
; Of two products the first; the other one is rounded.
kernel @of_two_products_the_first_the_other_one_is_rounded(%a: f32, %x: in f32, %y: out f32) {
^entry:
  %i = item_id
  %c = load %x[%i]
  %m = fmul.contract.f32 %a, %c
  %n = fmul.contract.f32 %c, %c
  %r0 = fadd.contract.f32 %m, %n
  %r1 = fsub.contract.f32 %n, %m
  store %r0, %y[%i]
  store %r1, %y[%i]
  ret
}
;= kernel @of_two_products_the_first_the_other_one_is_rounded(%a: f32, %x: in f32, %y: out f32) {
;= ^entry:
;=   %i = item_id
;=   %c = load %x[%i]
;=   %m = fmul.f32 %a, %c
;=   %n = fmul.f32 %c, %c
;=   %r0 = ffma.f32 %a, %c, %n
;=   %0 = fneg.f32 %m
;=   %r1 = ffma.f32 %c, %c, %0
;=   store %r0, %y[%i]
;=   store %r1, %y[%i]
;=   ret
;= }

; test: lower passes=contract
; What the sum does beside adding stays.
kernel @what_the_sum_does_beside_adding_stays(%a: f16, %x: in f16, %y: out f16) {
^entry:
  %i = item_id
  %c = load %x[%i]
  %m = fmul.rz.ftz.contract.f16 %a, %c
  %r0 = fadd.rz.ftz.sat.contract.f16 %m, %a
  %r1 = fsub.rz.ftz.relu.contract.f16 %a, %m
  store %r0, %y[%i]
  store %r1, %y[%i]
  ret
}
;= kernel @what_the_sum_does_beside_adding_stays(%a: f16, %x: in f16, %y: out f16) {
;= ^entry:
;=   %i = item_id
;=   %c = load %x[%i]
;=   %m = fmul.rz.ftz.f16 %a, %c
;=   %r0 = ffma.rz.ftz.sat.f16 %a, %c, %a
;=   %0 = fneg.f16 %a
;=   %r1 = ffma.rz.ftz.relu.f16 %0, %c, %a
;=   store %r0, %y[%i]
;=   store %r1, %y[%i]
;=   ret
;= }

; A product of another block, which the text may show later.
kernel @a_product_of_another_block_which_the_text_may_show_later(%a: f32, %x: in f32, %y: out f32) {
^entry:
  %i = item_id
  br ^first
^last:
  %r = fadd.contract.f32 %m, %a
  store %r, %y[%i]
  ret
^first:
  %c = load %x[%i]
  %m = fmul.contract.f32 %a, %c
  br ^last
}
;= kernel @a_product_of_another_block_which_the_text_may_show_later(%a: f32, %x: in f32, %y: out f32) {
;= ^entry:
;=   %i = item_id
;=   br ^first
;= ^last:
;=   %r = ffma.f32 %a, %c, %a
;=   store %r, %y[%i]
;=   ret
;= ^first:
;=   %c = load %x[%i]
;=   %m = fmul.f32 %a, %c
;=   br ^last
;= }

; Not where only one of them says so, rounding or ftz differ, the product is clamped, or a change of sign or a block parameter is between.
kernel @not_where_only_one_of_them_says_so_rounding_or_ftz_differ_the_product_is_clamped_or_a_change_of_sign_or_a_block_parameter_is_between(%a: f16x2, %x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %c = load %x[%i]
  %plain = fmul.f16x2 %a, %c
  %r0 = fadd.contract.f16x2 %plain, %a
  %m = fmul.contract.f16x2 %a, %c
  %r1 = fadd.f16x2 %m, %a
  %r2 = fadd.rz.contract.f16x2 %m, %a
  %r3 = fsub.ftz.contract.f16x2 %m, %a
  %sat = fmul.sat.contract.f16x2 %a, %c
  %r4 = fadd.contract.f16x2 %sat, %a
  %r5 = fadd.sat.contract.f16x2 %sat, %a
  %neg = fneg.f16x2 %m
  %r6 = fadd.contract.f16x2 %neg, %a
  store %r0, %y[%i]
  store %r1, %y[%i]
  store %r2, %y[%i]
  store %r3, %y[%i]
  store %r4, %y[%i]
  store %r5, %y[%i]
  store %r6, %y[%i]
  br ^next(%m)
^next(%p: f16x2):
  %r7 = fadd.contract.f16x2 %p, %a
  store %r7, %y[%i]
  ret
}
;= kernel @not_where_only_one_of_them_says_so_rounding_or_ftz_differ_the_product_is_clamped_or_a_change_of_sign_or_a_block_parameter_is_between(%a: f16x2, %x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %c = load %x[%i]
;=   %plain = fmul.f16x2 %a, %c
;=   %r0 = fadd.f16x2 %plain, %a
;=   %m = fmul.f16x2 %a, %c
;=   %r1 = fadd.f16x2 %m, %a
;=   %r2 = fadd.rz.f16x2 %m, %a
;=   %r3 = fsub.ftz.f16x2 %m, %a
;=   %sat = fmul.sat.f16x2 %a, %c
;=   %r4 = fadd.f16x2 %sat, %a
;=   %r5 = fadd.sat.f16x2 %sat, %a
;=   %neg = fneg.f16x2 %m
;=   %r6 = fadd.f16x2 %neg, %a
;=   store %r0, %y[%i]
;=   store %r1, %y[%i]
;=   store %r2, %y[%i]
;=   store %r3, %y[%i]
;=   store %r4, %y[%i]
;=   store %r5, %y[%i]
;=   store %r6, %y[%i]
;=   br ^next(%m)
;= ^next(%p: f16x2):
;=   %r7 = fadd.f16x2 %p, %a
;=   store %r7, %y[%i]
;=   ret
;= }

; test: lower passes=fold,canon,merge,dce
; Other passes come after it, asked for or not.
kernel @other_passes_come_after_it_asked_for_or_not(%x: in f32, %y: out f32) {
^entry:
  %i = item_id
  %c = load %x[%i]
  %k = const.f32 3
  %m = fmul.contract.f32 %k, %k
  %n = fmul.contract.f32 %c, %k
  %neg = fneg.f32 %n
  %r0 = fadd.contract.f32 %m, %c
  %r1 = fadd.contract.f32 %c, %neg
  store %r0, %y[%i]
  store %r1, %y[%i]
  br ^next(%n)
^next(%p: f32):
  %r2 = fadd.contract.f32 %p, %c
  store %r2, %y[%i]
  ret
}
;= kernel @other_passes_come_after_it_asked_for_or_not(%x: in f32, %y: out f32) {
;= ^entry:
;=   %i = item_id
;=   %c = load %x[%i]
;=   %k = const.f32 3.0
;=   %n = fmul.f32 %c, %k
;=   %r0 = ffma.f32 %k, %k, %c
;=   %r1 = fsub.f32 %c, %n
;=   store %r0, %y[%i]
;=   store %r1, %y[%i]
;=   %r2 = fadd.f32 %n, %c
;=   store %r2, %y[%i]
;=   ret
;= }
