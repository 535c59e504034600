; test: refuse halu
; Ops that HALU has no instructions for, and no others to make them of.

; bf16 keeps its subnormals.
kernel @flushed_bf16(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fadd.ftz.bf16x2 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = fadd.ftz.bf16x2 %a, %b
;=     halu cannot do `fadd.bf16x2`: bf16 arithmetic has no `ftz`

kernel @flushed_bf16_product(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmul.ftz.bf16x2 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = fmul.ftz.bf16x2 %a, %b
;=     halu cannot do `fmul.bf16x2`: bf16 arithmetic has no `ftz`

kernel @another_targets_instruction(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = intrinsic.i8x16 vp1 "vabs s $d $0", %a
  store %r, %out[%i]
  ret
}
;= %r = intrinsic.i8x16 vp1 "vabs s $d $0", %a
;=     halu cannot do `intrinsic.i8x16`: the instruction belongs to target `vp1`
