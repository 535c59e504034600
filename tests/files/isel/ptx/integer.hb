; test: isel ptx
kernel @words(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i32 %a, %b      ; check: add.u32
  %d = sub.i32 %a, %b      ; check: sub.u32
  %n = neg.i32 %a          ; check: neg.s32
  %r = abs.i32 %b          ; check: abs.s32
  store %s, %out1[%i]
  store %d, %out2[%i]
  store %n, %out3[%i]
  store %r, %out4[%i]
  ret
}
; rule: int_add, int_sub, int_neg, int_abs

kernel @extrema(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = min_s.i32 %a, %b      ; check: min.s32
  %y = min_u.i32 %x, %b      ; check: min.u32
  %z = max_s.i32 %y, %a      ; check: max.s32
  %r = max_u.i32 %z, %b      ; check: max.u32
  store %r, %out[%i]
  ret
}
; rule: int_min_s, int_min_u, int_max_s, int_max_u
; never: selp

kernel @clamped_words(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = add_sat_s.i32 %a, %b      ; check: add.sat.s32
  %r = sub_sat_s.i32 %x, %b      ; check: sub.sat.s32
  store %r, %out[%i]
  ret
}
; rule: int_add_sat_s, int_sub_sat_s

kernel @products(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = mul.i32 %a, %b           ; check: mul.lo.u32
  %y = mul_hi_s.i32 %x, %b      ; check: mul.wide.s32
  %r = mul_hi_u.i32 %y, %b      ; check: mul.wide.u32
  store %r, %out[%i]
  ret
}
; rule: int_mul, int_mul_hi_s, int_mul_hi_u

kernel @wide_products(%a_in: in i32, %b_in: in i32, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = mul_wide_s.i32 %a, %b      ; check: mul.wide.s32
  %y = mul_wide_u.i32 %a, %b      ; check: mul.wide.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: int_mul_wide_s, int_mul_wide_u

kernel @narrow_products(%a_in: in i8, %b_in: in i8, %out1: out i16, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = mul_wide_s.i8 %a, %b      ; check: cvt.s32.s8
                                 ; next: cvt.s32.s8
                                 ; next: mul.lo.u32
  %y = mul_wide_u.i8 %a, %b      ; check: cvt.u32.u8
                                 ; next: cvt.u32.u8
                                 ; next: mul.lo.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: narrow_mul_wide_s, narrow_mul_wide_u

; Counts are modulo 32: funnel shifts take them so.
kernel @shifts(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 37
  %x = shl.i32 %a, %k        ; check: shl.b32 {{.*}} 5
  %y = shl.i32 %x, %b        ; check: shf.l.wrap.b32 {{.*}} 0,
  %z = shr_u.i32 %y, %b      ; check: shf.r.wrap.b32
  %r = shr_s.i32 %z, %b      ; check: and.b32
                             ; next: shr.s32
  store %r, %out[%i]
  ret
}
; rule: int_shl, int_shr_u, int_shr_s

kernel @narrow_shifts(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = shl.i8 %a, %b        ; check: and.b32
                            ; next: shf.l
  %y = shr_u.i8 %x, %b      ; check: cvt.u32.u8
                            ; next: and.b32
                            ; next: shf.r
  %r = shr_s.i8 %y, %b      ; check: cvt.s32.s8
  store %r, %out[%i]
  ret
}
; rule: narrow_shl, narrow_shr_u, narrow_shr_s, narrow_count

kernel @narrow_shift_by_constant(%a_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8 3
  %r = shl.i8 %a, %k        ; check: shl.b32 {{.*}} 3
  store %r, %out[%i]
  ret
}
; rule: narrow_count_known
; no rule: narrow_count

kernel @shifts_of_lanes(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 3
  %x = shl.i8x4 %a, %k        ; check: shl.b32
                              ; next: and.b32 {{.*}} 0xf8f8f8f8
  %y = shr_u.i8x4 %x, %k      ; check: shr.u32
                              ; next: and.b32 {{.*}} 0x1f1f1f1f
  %z = add.i8x4 %y, %a
  %r = shr_s.i8x4 %z, %k      ; check: shr.u32
                              ; next: prmt.b32 {{.*}} 0xba98
                              ; next: lop3.b32 {{.*}} 0x1f1f1f1f
  store %r, %out[%i]
  ret
}
; rule: video_shl, video_shr_u, video_shr_s

kernel @bits(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = and.i32 %a, %b      ; check: and.b32
  %y = or.i32 %x, %b       ; check: or.b32
  %z = xor.i32 %y, %a      ; check: xor.b32
  %r = not.i32 %z          ; check: not.b32
  store %r, %out[%i]
  ret
}
; rule: word_and, word_or, word_xor, word_not

kernel @pairs(%a_in: in i64, %b_in: in i64, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ld.global.nc.b64
                           ; check: ld.global.nc.b64
  %s = add.i64 %a, %b      ; check: add.u64
                           ; next: mov.b64
  %d = sub.i64 %b, %a      ; check: sub.u64
  %x = and.i64 %d, %b      ; check: and.b32
                           ; next: and.b32
  %y = or.i64 %x, %a       ; check: or.b32
                           ; next: or.b32
  %z = xor.i64 %y, %b      ; check: xor.b32
                           ; next: xor.b32
  %r = not.i64 %z          ; check: not.b32
                           ; next: not.b32
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: pair_add, pair_sub, pair_and, pair_or, pair_xor, pair_not, pair_by_words

kernel @compares(%a_in: in i32, %b_in: in i32, %e_in: in i32, %c_in: in i64, %d_in: in i64, %f_in: in i64,
    %out1: out i32, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %e = load %e_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %f = load %f_in[%i]
  %x = icmp.lt_u.i32 %a, %b       ; check: setp.lt.u32
  %r = select.i32 %x, %a, %e      ; check: selp.b32
  %y = icmp.ge_s.i64 %c, %d       ; check: setp.ge.s64
  %s = select.i64 %y, %c, %f      ; check: selp.b32
                                  ; next: selp.b32
  store %r, %out1[%i]
  store %s, %out2[%i]
  ret
}
; rule: int_icmp, pair_icmp, select_by_truth, select_pair

; A part of a word at a byte or in the upper half is sign-extended by one instruction.
kernel @signed_parts(%a_in: in i32, %out0: out i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %e = const.i32 8
  %x = shr_u.i32 %a, %e
  %y = trunc.i8 %x
  %r = sext.i32 %y          ; check: prmt.b32
  %f = const.i32 16
  %z = shr_s.i32 %a, %f
  %v = trunc.i8 %z
  %s = sext.i32 %v          ; check: prmt.b32
  %w = shl.i32 %a, %e
  %g = const.i32 24
  %t = shr_s.i32 %w, %g     ; check: prmt.b32
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  ret
}
; rule: sext_shifted_u, sext_shifted_s, sext_by_shifts

kernel @other_parts(%a_in: in i32, %out0: out i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %e = const.i32 5
  %x = shr_u.i32 %a, %e
  %y = trunc.i8 %x
  %r = sext.i32 %y
  %f = const.i32 13
  %z = shr_s.i32 %a, %f
  %v = trunc.i8 %z
  %s = sext.i32 %v
  %w = shl.i32 %a, %e
  %g = const.i32 24
  %t = shr_s.i32 %w, %g
  store %r, %out0[%i]
  store %s, %out1[%i]
  store %t, %out2[%i]
  ret
}
; no rule: sext_shifted_u, sext_shifted_s, sext_by_shifts
; never: prmt

kernel @high_products(%a_in: in i64, %b_in: in i64, %out0: out i64, %out1: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = mul_hi_s.i64 %a, %b    ; check: mul.hi.s64
  %s = mul_hi_u.i64 %a, %b    ; check: mul.hi.u64
  store %r, %out0[%i]
  store %s, %out1[%i]
  ret
}
; rule: pair_mul_hi_s, pair_mul_hi_u
