; test: refuse ptx
; Ops that PTX has no instructions for, and no others to make them of.

; bfloat16 rounds to nearest even.
kernel @directed(%a_in: in bf16x2, %b_in: in bf16x2, %out1: out bf16x2, %out2: out bf16x2, %out3: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.rz.bf16x2 %a, %b
  %p = fmul.rp.bf16x2 %a, %b
  %q = ffma.rm.bf16x2 %a, %b, %p
  store %s, %out1[%i]
  store %q, %out2[%i]
  ret
}
;= %s = fadd.rz.bf16x2 %a, %b
;=     ptx cannot do `fadd.bf16x2`: bfloat16 rounds to nearest even
;= %q = ffma.rm.bf16x2 %a, %b, %p
;=     ptx cannot do `ffma.bf16x2`: bfloat16 rounds to nearest even

; f32 becomes bf16 in two roundings.
kernel @narrowed_upward(%a_in: in f32, %out1: out bf16, %out2: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rp.bf16 %a
  %s = fcvt.rp.f16 %a
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
;= %r = fcvt.rp.bf16 %a
;=     ptx cannot do `fcvt.bf16`: f32 rounds to bfloat16 to nearest even or toward zero

; Subnormals of bf16 stay.
kernel @flushed(%a_in: in bf16x2, %b_in: in bf16x2, %out1: out bf16x2, %out2: out bf16x2, %out3: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.ftz.bf16x2 %a, %b
  %m = fmin.ftz.bf16x2 %a, %b
  %c = fset.lt.ftz.bf16x2 %a, %b
  store %s, %out1[%i]
  store %m, %out2[%i]
  store %c, %out3[%i]
  ret
}
;= %s = fadd.ftz.bf16x2 %a, %b
;=     ptx cannot do `fadd.bf16x2`: bfloat16 has no `ftz`
;= %m = fmin.ftz.bf16x2 %a, %b
;=     ptx cannot do `fmin.bf16x2`: bfloat16 has no `ftz`
;= %c = fset.lt.ftz.bf16x2 %a, %b
;=     ptx cannot do `fset.bf16x2`: bfloat16 has no `ftz`

; Instructions of other machines.
kernel @of_another(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = intrinsic.i8x4 halu "lop3.lut $d, $0, RZ, RZ, 0x0f, !PT", %a
  store %r, %out[%i]
  ret
}
;= %r = intrinsic.i8x4 halu "lop3.lut $d, $0, RZ, RZ, 0x0f, !PT", %a
;=     ptx cannot do `intrinsic.i8x4`: the instruction belongs to target `halu`

; An access is checked for alignment to its own size.
kernel @aligned_beyond_its_size(%a_in: in i32 align 64, %out: out i32) {
^entry:
  %i = item_id
  %a = load.i32 %a_in[%i] align 64
  store %a, %out[%i]
  ret
}
;= %a = load.i32 %a_in[%i] align 64
;=     ptx cannot do `load.i32`: alignment beyond the size of the access is not supported

; test: refuse ptx sm=80
; Before sm_90 integers become bfloat16 by f32, which is rounded to nearest.
kernel @bf16_of_integers(%a_in: in i32, %out: out bf16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.rz.bf16 %a
  store %r, %out[%i]
  ret
}
;= %r = fcvt_from_s.rz.bf16 %a
;=     ptx cannot do `fcvt_from_s.bf16`: before sm_90 integers round to bfloat16 to nearest even

; test: refuse ptx sm=75
; bfloat16 has no `ftz`, on f32 neither.
kernel @bf16_flushed(%a_in: in bf16x2, %b_in: in bf16x2, %out: out bf16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = fadd.ftz.bf16x2 %a, %b
  store %s, %out[%i]
  ret
}
;= %s = fadd.ftz.bf16x2 %a, %b
;=     ptx cannot do `fadd.bf16x2`: bfloat16 has no `ftz`
