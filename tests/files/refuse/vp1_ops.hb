; test: refuse vp1
; Ops that VP1 has no instructions for, and no others to make them of.

; It has no floating point.
kernel @halves(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = ffma.f16x2 %a, %b, %a
  store %r, %out[%i]
  ret
}
;= %r = ffma.f16x2 %a, %b, %a
;=     vp1 cannot do `ffma.f16x2`: VP1 has no floating-point arithmetic

kernel @singles(%a_in: in f32, %b_in: in f32, %out: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = fdiv.f32 %a, %b
  store %r, %out[%i]
  ret
}
;= %r = fdiv.f32 %a, %b
;=     vp1 cannot do `fdiv.f32`: VP1 has no floating-point arithmetic

kernel @pairs(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = add.i64 %a, %b
  store %r, %out[%i]
  ret
}
;= %a = load %a_in[%i]
;=     vp1 cannot do `load.i64`: the scalar registers of VP1 hold 32 bits
;= %b = load %b_in[%i]
;=     vp1 cannot do `load.i64`: the scalar registers of VP1 hold 32 bits
;= %r = add.i64 %a, %b
;=     vp1 cannot do `add.i64`: the scalar registers of VP1 hold 32 bits
;= store %r, %out[%i]
;=     vp1 cannot do `store.i64`: the scalar registers of VP1 hold 32 bits

; No register holds wide lanes.
kernel @wide_values_stored(%a_in: in i8x16, %out: out i16x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = zext.i16x16 %a
  store %r, %out[%i]
  ret
}
;= store %r, %out[%i]
;=     vp1 cannot do `store.i16x16`: an access has at most 16 bytes

kernel @group(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %g = group_id
  %r = add.i32 %a, %g
  store %r, %out[%i]
  ret
}
;= %g = group_id
;=     vp1 cannot do `group_id`: this target has no groups of work items

kernel @another_targets_instruction(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = intrinsic.i8x4 halu "vadd4.u32.u32.u32 $d, $0, $1", %a, %b
  store %r, %out[%i]
  ret
}
;= %r = intrinsic.i8x4 halu "vadd4.u32.u32.u32 $d, $0, $1", %a, %b
;=     vp1 cannot do `intrinsic.i8x4`: the instruction belongs to target `halu`
