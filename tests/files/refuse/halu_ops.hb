; test: refuse halu
; Ops that HALU has no instructions for, and no others to make them of.
kernel @lanes_chosen_at_run_time(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = swizzle.i8x16 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = swizzle.i8x16 %a, %b
;=     halu cannot do `swizzle.i8x16`: it has no shuffle by lanes chosen at run time

; Lanes are shifted by one constant, not each by its own count.
kernel @lanes_shifted_apart(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = shl.i8x4 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = shl.i8x4 %a, %b
;=     halu cannot do `shl.i8x4`: packed lanes shift by one constant for all

kernel @high_product_of_pairs(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = mul_hi_u.i64 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = mul_hi_u.i64 %a, %b
;=     halu cannot do `mul_hi_u.i64`: it has no product of 128 bits

; Only a single comes of an integer.
kernel @half_of_an_integer(%a_in: in i32, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt_from_s.f16 %a
  store %r, %out[%i]
  ret
}
;= %r = fcvt_from_s.f16 %a
;=     halu cannot do `fcvt_from_s.f16`: by way of f32 it would round twice

kernel @extreme_of_singles(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fmin.f32 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = fmin.f32 %a, %b
;=     halu cannot do `fmin.f32`: it has no f32 minimum or maximum; compare and select

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

; Items are in no groups.
kernel @group(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %g = group_id
  %l = local_id
  %s = group_size
  %x = add.i32 %g, %l
  %y = add.i32 %x, %s
  %r = add.i32 %a, %y
  store %r, %out[%i]
  ret
}
;= %g = group_id
;=     halu cannot do `group_id`: it knows no groups of items, only `item_id` and `item_count`
;= %l = local_id
;=     halu cannot do `local_id`: it knows no groups of items, only `item_id` and `item_count`
;= %s = group_size
;=     halu cannot do `group_size`: it knows no groups of items, only `item_id` and `item_count`

kernel @another_targets_instruction(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = intrinsic.i8x16 vp1 "vabs s $d $0", %a
  store %r, %out[%i]
  ret
}
;= %r = intrinsic.i8x16 vp1 "vabs s $d $0", %a
;=     halu cannot do `intrinsic.i8x16`: it is an instruction of `vp1`
