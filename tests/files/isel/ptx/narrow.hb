; test: isel ptx
; Narrow scalars: words, of which the upper bits are nobody's.
kernel @sums(%a_in: in i8, %b_in: in i8, %out1: out i8, %out2: out i8, %out3: out i8, %out4: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = add.i8 %a, %b      ; check: add.u32
  %d = sub.i8 %a, %b      ; check: sub.u32
  %n = neg.i8 %a          ; check: neg.s32
  %r = abs.i8 %b          ; check: cvt.s32.s8
                          ; next: abs.s32
  store %s, %out1[%i]
  store %d, %out2[%i]
  store %n, %out3[%i]
  store %r, %out4[%i]
  ret
}
; rule: int_add, int_sub, int_neg, narrow_abs
; never: vadd

kernel @extrema(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = min_s.i8 %a, %b       ; check: cvt.s32.s8
                              ; next: cvt.s32.s8
                              ; next: min.s32
  %v1 = min_u.i8 %v0, %b      ; check: cvt.u32.u8
                              ; next: cvt.u32.u8
                              ; next: min.u32
  %v2 = max_s.i8 %v1, %b      ; check: cvt.s32.s8
                              ; next: cvt.s32.s8
                              ; next: max.s32
  %v3 = max_u.i8 %v2, %b      ; check: cvt.u32.u8
                              ; next: cvt.u32.u8
                              ; next: max.u32
  store %v3, %out[%i]
  ret
}
; rule: narrow_min_s, narrow_min_u, narrow_max_s, narrow_max_u

kernel @clamped(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = add_sat_s.i8 %a, %b       ; check: cvt.s32.s8
                                  ; next: cvt.s32.s8
                                  ; next: add.u32
                                  ; next: max.s32 {{.*}} -128
                                  ; next: min.s32 {{.*}} 127
  %v1 = add_sat_u.i8 %v0, %b      ; check: cvt.u32.u8
                                  ; next: cvt.u32.u8
                                  ; next: add.u32
                                  ; next: max.s32 {{.*}} 0
                                  ; next: min.s32 {{.*}} 255
  %v2 = sub_sat_s.i8 %v1, %b      ; check: cvt.s32.s8
                                  ; next: cvt.s32.s8
                                  ; next: sub.u32
  %v3 = sub_sat_u.i8 %v2, %b      ; check: cvt.u32.u8
                                  ; next: cvt.u32.u8
                                  ; next: sub.u32
  store %v3, %out[%i]
  ret
}
; rule: narrow_add_sat_s, narrow_add_sat_u, narrow_sub_sat_s, narrow_sub_sat_u

kernel @distances_and_averages(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = absdiff_s.i8 %a, %b       ; check: cvt.s32.s8
                                  ; next: cvt.s32.s8
                                  ; next: sub.u32
                                  ; next: abs.s32
  %v1 = absdiff_u.i8 %v0, %b      ; check: cvt.u32.u8
                                  ; next: cvt.u32.u8
                                  ; next: sub.u32
                                  ; next: abs.s32
  %v2 = avg_u.i8 %v1, %b          ; check: cvt.u32.u8
                                  ; next: cvt.u32.u8
                                  ; next: add.u32
                                  ; next: add.u32
                                  ; next: shr.u32
  %v3 = avg_s.i8 %v2, %b          ; check: cvt.s32.s8
                                  ; next: cvt.s32.s8
                                  ; next: add.u32
                                  ; next: add.u32
                                  ; next: shr.s32
                                  ; next: add.u32
                                  ; next: shr.s32
  store %v3, %out[%i]
  ret
}
; rule: narrow_absdiff_s, narrow_absdiff_u, narrow_avg_u, narrow_avg_s

kernel @extended(%a_in: in i8, %b_in: in i16, %out1: out i32, %out2: out i32, %out3: out i64, %out4: out i64,
    %out5: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %u = zext.i32 %a      ; check: cvt.u32.u8
  %s = sext.i32 %b      ; check: cvt.s32.s16
  %x = zext.i64 %a      ; check: cvt.u32.u8
  %y = sext.i64 %b      ; check: cvt.s32.s16
                        ; next: shr.s32 {{.*}} 31
  %t = trunc.i8 %s
  store %u, %out1[%i]
  store %s, %out2[%i]
  store %x, %out3[%i]
  store %y, %out4[%i]
  store %t, %out5[%i]
  ret
}
; rule: zext_word, sext_word, zext_pair, sext_pair, trunc_word
