; test: lower
; Algebra of widths and of sums over lanes.
kernel @extended_twice(%a_in: in i8, %out1: out i32, %out2: out i32, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = sext.i16 %a
  %sext = sext.i32 %x
  %x2 = zext.i16 %a
  %sext2 = sext.i32 %x2
  %x3 = zext.i16 %a
  %zext = zext.i64 %x3
  store %sext, %out1[%i]
  store %sext2, %out2[%i]
  store %zext, %out3[%i]
  ret
}
;= kernel @extended_twice(%a_in: in i8, %out1: out i32, %out2: out i32, %out3: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %sext = sext.i32 %a
;=   %sext2 = zext.i32 %a
;=   %zext = zext.i64 %a
;=   store %sext, %out1[%i]
;=   store %sext2, %out2[%i]
;=   store %zext, %out3[%i]
;=   ret
;= }
; rule: sext_sext, sext_zext, zext_zext

; Zeros above a sign are no extension of the first.
kernel @zeros_above_a_sign(%a_in: in i8, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = sext.i16 %a
  %r = zext.i32 %x
  store %r, %out[%i]
  ret
}
;= kernel @zeros_above_a_sign(%a_in: in i8, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x = sext.i16 %a
;=   %r = zext.i32 %x
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: sext_sext, sext_zext, zext_zext

kernel @narrowed_and_widened(%a_in: in i32, %a2_in: in i64, %out1: out i32, %out2: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %x = trunc.i8 %a
  %zext = zext.i32 %x
  %x2 = trunc.i32 %a2
  %trunc = trunc.i8 %x2
  store %zext, %out1[%i]
  store %trunc, %out2[%i]
  ret
}
;= kernel @narrowed_and_widened(%a_in: in i32, %a2_in: in i64, %out1: out i32, %out2: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %0 = const.i32 255
;=   %zext = and.i32 %a, %0
;=   %trunc = trunc.i8 %a2
;=   store %zext, %out1[%i]
;=   store %trunc, %out2[%i]
;=   ret
;= }
; rule: zext_trunc, trunc_trunc

; A sign that comes of narrowing is not that of the number.
kernel @signs_of_narrowed(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = trunc.i8 %a
  %r = sext.i32 %x
  store %r, %out[%i]
  ret
}
;= kernel @signs_of_narrowed(%a_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x = trunc.i8 %a
;=   %r = sext.i32 %x
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: zext_trunc

kernel @widened_and_narrowed_s(%a_in: in i8x16, %a2_in: in i8, %a3_in: in i16, %out1: out i8x16, %out2: out i16,
    %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %a3 = load %a3_in[%i]
  %x = sext.i16x16 %a
  %trunc = trunc.i8x16 %x
  %x2 = sext.i32 %a2
  %trunc2 = trunc.i16 %x2
  %x3 = sext.i64 %a3
  %trunc3 = trunc.i8 %x3
  store %trunc, %out1[%i]
  store %trunc2, %out2[%i]
  store %trunc3, %out3[%i]
  ret
}
;= kernel @widened_and_narrowed_s(%a_in: in i8x16, %a2_in: in i8, %a3_in: in i16, %out1: out i8x16, %out2: out i16, %out3: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %a3 = load %a3_in[%i]
;=   %trunc2 = sext.i16 %a2
;=   %trunc3 = trunc.i8 %a3
;=   store %a, %out1[%i]
;=   store %trunc2, %out2[%i]
;=   store %trunc3, %out3[%i]
;=   ret
;= }
; rule: trunc_sext, trunc_sext_wider, trunc_sext_narrower

kernel @widened_and_narrowed_u(%a_in: in i8x16, %a2_in: in i8, %a3_in: in i16, %out1: out i8x16, %out2: out i16,
    %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %a3 = load %a3_in[%i]
  %x = zext.i16x16 %a
  %trunc = trunc.i8x16 %x
  %x2 = zext.i32 %a2
  %trunc2 = trunc.i16 %x2
  %x3 = zext.i64 %a3
  %trunc3 = trunc.i8 %x3
  store %trunc, %out1[%i]
  store %trunc2, %out2[%i]
  store %trunc3, %out3[%i]
  ret
}
;= kernel @widened_and_narrowed_u(%a_in: in i8x16, %a2_in: in i8, %a3_in: in i16, %out1: out i8x16, %out2: out i16, %out3: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %a3 = load %a3_in[%i]
;=   %trunc2 = zext.i16 %a2
;=   %trunc3 = trunc.i8 %a3
;=   store %a, %out1[%i]
;=   store %trunc2, %out2[%i]
;=   store %trunc3, %out3[%i]
;=   ret
;= }
; rule: trunc_zext, trunc_zext_wider, trunc_zext_narrower

kernel @widened_and_saturated(%a_in: in i8, %out1: out i8, %out2: out i8, %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = sext.i16 %a
  %narrow_sat_s = narrow_sat_s.i8 %x
  %x2 = zext.i16 %a
  %narrow_sat_u = narrow_sat_u.i8 %x2
  %x3 = zext.i16 %a
  %narrow_sat_uu = narrow_sat_uu.i8 %x3
  store %narrow_sat_s, %out1[%i]
  store %narrow_sat_u, %out2[%i]
  store %narrow_sat_uu, %out3[%i]
  ret
}
;= kernel @widened_and_saturated(%a_in: in i8, %out1: out i8, %out2: out i8, %out3: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   store %a, %out1[%i]
;=   store %a, %out2[%i]
;=   store %a, %out3[%i]
;=   ret
;= }
; rule: narrow_s_sext, narrow_u_zext, narrow_uu_zext

; A signed byte may be below what an unsigned one holds.
kernel @saturated_to_another_sign(%a_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = sext.i16 %a
  %r = narrow_sat_u.i8 %x
  store %r, %out[%i]
  ret
}
;= kernel @saturated_to_another_sign(%a_in: in i8, %out: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x = sext.i16 %a
;=   %r = narrow_sat_u.i8 %x
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: narrow_s_sext, narrow_u_zext

kernel @distances_summed(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32,
    %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %d = absdiff_s.i8x4 %a, %b
  %reduce_add_u = reduce_add_u.i8x4 %d
  %d2 = absdiff_u.i8x4 %a, %b
  %reduce_add_u2 = reduce_add_u.i8x4 %d2
  %sad_s = sad_s.i8x4 %a, %a, %s
  %sad_u = sad_u.i8x4 %a, %a, %s
  store %reduce_add_u, %out1[%i]
  store %reduce_add_u2, %out2[%i]
  store %sad_s, %out3[%i]
  store %sad_u, %out4[%i]
  ret
}
;= kernel @distances_summed(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %0 = const.i32 0
;=   %reduce_add_u = sad_s.i8x4 %a, %b, %0
;=   %reduce_add_u2 = sad_u.i8x4 %a, %b, %0
;=   store %reduce_add_u, %out1[%i]
;=   store %reduce_add_u2, %out2[%i]
;=   store %s, %out3[%i]
;=   store %s, %out4[%i]
;=   ret
;= }
; rule: sum_of_differences_s, sum_of_differences_u, sad_s_self, sad_u_self

; The accumulator takes part in the sum, on either side.
kernel @added_to(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32,
    %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %k = const.i32 0
  %x = sad_s.i8x4 %a, %b, %k
  %add = add.i32 %x, %s
  %k2 = const.i32 0
  %x2 = sad_s.i8x4 %a, %b, %k2
  %add2 = add.i32 %s, %x2
  %k3 = const.i32 0
  %x3 = sad_u.i8x4 %a, %b, %k3
  %add3 = add.i32 %x3, %s
  %k4 = const.i32 0
  %x4 = sad_u.i8x4 %a, %b, %k4
  %add4 = add.i32 %s, %x4
  store %add, %out1[%i]
  store %add2, %out2[%i]
  store %add3, %out3[%i]
  store %add4, %out4[%i]
  ret
}
;= kernel @added_to(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %add = sad_s.i8x4 %a, %b, %s
;=   %add3 = sad_u.i8x4 %a, %b, %s
;=   store %add, %out1[%i]
;=   store %add, %out2[%i]
;=   store %add3, %out3[%i]
;=   store %add3, %out4[%i]
;=   ret
;= }
; rule: sad_s_add, add_sad_s, sad_u_add, add_sad_u

; It is 0 only once.
kernel @added_to_twice(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %t_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %t = load %t_in[%i]
  %x = sad_u.i8x4 %a, %b, %s
  %r = add.i32 %x, %t
  store %r, %out[%i]
  ret
}
;= kernel @added_to_twice(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %t_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %t = load %t_in[%i]
;=   %x = sad_u.i8x4 %a, %b, %s
;=   %r = add.i32 %x, %t
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: sad_u_add, add_sad_u

; There is no such sum of wide lanes.
kernel @differences_of_wide_lanes(%a_in: in i8x16, %b_in: in i8x16, %s: out i32, %u: out i32) {
^entry:
  %i = item_id
  %a8 = load %a_in[%i]
  %b8 = load %b_in[%i]
  %a = zext.i16x16 %a8
  %b = sext.i16x16 %b8
  %d = absdiff_s.i16x16 %a, %b
  %e = absdiff_u.i16x16 %a, %b
  %ds = reduce_add_u.i16x16 %d
  %es = reduce_add_u.i16x16 %e
  store %ds, %s[%i]
  store %es, %u[%i]
  ret
}
;= kernel @differences_of_wide_lanes(%a_in: in i8x16, %b_in: in i8x16, %s: out i32, %u: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a8 = load %a_in[%i]
;=   %b8 = load %b_in[%i]
;=   %a = zext.i16x16 %a8
;=   %b = sext.i16x16 %b8
;=   %d = absdiff_s.i16x16 %a, %b
;=   %e = absdiff_u.i16x16 %a, %b
;=   %ds = reduce_add_u.i16x16 %d
;=   %es = reduce_add_u.i16x16 %e
;=   store %ds, %s[%i]
;=   store %es, %u[%i]
;=   ret
;= }
; run: halu, vp1, ptx: @differences_of_wide_lanes items=3 a_in=random(3, 1) b_in=random(3, 2) s=zeros(3) u=zeros(3)
