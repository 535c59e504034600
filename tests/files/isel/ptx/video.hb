; test: isel ptx
; Packed lanes: a video instruction each, as if every machine had them.
kernel @bytes(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4,
    %out5: out i8x4, %out6: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = add.i8x4 %a, %b            ; check: vadd4.u32.u32.u32
  %v1 = sub.i8x4 %a, %b            ; check: vsub4.u32.u32.u32
  %v2 = add_sat_s.i8x4 %a, %b      ; check: vadd4.s32.s32.s32.sat
  %v3 = add_sat_u.i8x4 %a, %b      ; check: vadd4.u32.u32.u32.sat
  %v4 = sub_sat_s.i8x4 %a, %b      ; check: vsub4.s32.s32.s32.sat
  %v5 = sub_sat_u.i8x4 %a, %b      ; check: vsub4.u32.u32.u32.sat
  store %v0, %out1[%i]
  store %v1, %out2[%i]
  store %v2, %out3[%i]
  store %v3, %out4[%i]
  store %v4, %out5[%i]
  store %v5, %out6[%i]
  ret
}
; rule: video_add, video_sub, video_add_sat_s, video_add_sat_u, video_sub_sat_s, video_sub_sat_u

kernel @averages_and_extrema_of_bytes(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = avg_s.i8x4 %a, %b           ; check: vavrg4.s32.s32.s32
  %v1 = avg_u.i8x4 %v0, %b          ; check: vavrg4.u32.u32.u32
  %v2 = absdiff_s.i8x4 %v1, %b      ; check: vabsdiff4.s32.s32.s32
  %v3 = absdiff_u.i8x4 %v2, %b      ; check: vabsdiff4.u32.u32.u32
  %v4 = min_s.i8x4 %v3, %b          ; check: vmin4.s32.s32.s32
  %v5 = min_u.i8x4 %v4, %b          ; check: vmin4.u32.u32.u32
  %v6 = max_s.i8x4 %v5, %b          ; check: vmax4.s32.s32.s32
  %v7 = max_u.i8x4 %v6, %b          ; check: vmax4.u32.u32.u32
  store %v7, %out[%i]
  ret
}
; rule: video_avg_s, video_avg_u, video_absdiff_s, video_absdiff_u, video_min_s, video_min_u, video_max_s, video_max_u

kernel @halfwords(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = add.i16x2 %a, %b             ; check: vadd2.u32.u32.u32
  %v1 = add_sat_s.i16x2 %v0, %b      ; check: vadd2.s32.s32.s32.sat
  %v2 = add_sat_u.i16x2 %v1, %b      ; check: vadd2.u32.u32.u32.sat
  %v3 = sub_sat_s.i16x2 %v2, %b      ; check: vsub2.s32.s32.s32.sat
  %v4 = sub_sat_u.i16x2 %v3, %b      ; check: vsub2.u32.u32.u32.sat
  %v5 = avg_s.i16x2 %v4, %b          ; check: vavrg2.s32.s32.s32
  %v6 = avg_u.i16x2 %v5, %b          ; check: vavrg2.u32.u32.u32
  store %v6, %out[%i]
  ret
}
; rule: video_add, video_add_sat_s, video_add_sat_u, video_sub_sat_s, video_sub_sat_u, video_avg_s, video_avg_u

kernel @extrema_of_halfwords(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %v0 = absdiff_s.i16x2 %a, %b       ; check: vabsdiff2.s32.s32.s32
  %v1 = absdiff_u.i16x2 %v0, %b      ; check: vabsdiff2.u32.u32.u32
  %v2 = min_s.i16x2 %v1, %b          ; check: vmin2.s32.s32.s32
  %v3 = min_u.i16x2 %v2, %b          ; check: vmin2.u32.u32.u32
  %v4 = max_s.i16x2 %v3, %b          ; check: vmax2.s32.s32.s32
  %v5 = max_u.i16x2 %v4, %b          ; check: vmax2.u32.u32.u32
  store %v5, %out[%i]
  ret
}
; rule: video_absdiff_s, video_absdiff_u, video_min_s, video_min_u, video_max_s, video_max_u

; A difference of half-words is the sum with the opposite, which is made where the operand is defined.
kernel @opposite_halfwords(%a_in: in i16x2, %s: i16x2, %out1: out i16x2, %out2: out i16x2) {
^entry:
  %i = item_id               ; check: not.b32
                             ; next: add.u16x2
  %a = load %a_in[%i]
  %x = sub.i16x2 %a, %s      ; check: vadd2.u32.u32.u32
  %y = neg.i16x2 %s
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: halfwords_sub, halfwords_neg, halfwords_opposite
; no rule: video_sub, video_neg

kernel @signs(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = neg.i8x4 %a      ; check: vsub4.u32.u32.u32
  %y = abs.i8x4 %a      ; check: vabsdiff4.s32.s32.s32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: video_neg, video_abs

kernel @distances(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = sad_u.i8x4 %a, %b, %c      ; check: vabsdiff4.u32.u32.u32.add
  %r = sad_s.i8x4 %a, %b, %x      ; check: vabsdiff4.s32.s32.s32.add
  store %r, %out[%i]
  ret
}
; rule: video_sad_u, video_sad_s

; Sums of lanes are dot products with ones.
kernel @sums_of_lanes(%a_in: in i8x4, %b_in: in i16x2, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = reduce_add_u.i8x4 %a       ; check: dp4a.u32.u32
  %y = reduce_add_s.i16x2 %b      ; check: dp2a.lo.s32.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: dot_reduce_add_u, dot_reduce_add_s

; What is added to the sum goes along.
kernel @sums_of_lanes_and_words(%a_in: in i8x4, %b_in: in i16x2, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = reduce_add_u.i16x2 %b
  %s = add.i32 %x, %c      ; check: dp2a.lo.u32.u32
  %y = reduce_add_s.i8x4 %a
  %r = add.i32 %y, %s      ; check: dp4a.s32.u32
  store %r, %out[%i]
  ret
}
; rule: dot_add_u, dot_add_s
; no rule: int_add, dot_reduce_add_u

kernel @min_of_lanes(%a_in: in i8x4, %b_in: in i16x2, %out1: out i8, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = reduce_min_s.i8x4 %a       ; check: mov.b32 {_
                                  ; next: mov.b32
                                  ; next: vmin4.s32.s32.s32
                                  ; next: prmt.b32
                                  ; next: vmin4.s32.s32.s32
  %y = reduce_min_u.i16x2 %b      ; check: mov.b32 {_
                                  ; next: mov.b32
                                  ; next: vmin2.u32.u32.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: video_reduce_min_s, video_reduce_min_u

kernel @max_of_lanes(%a_in: in i8x4, %b_in: in i16x2, %out1: out i8, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = reduce_max_s.i8x4 %a       ; check: mov.b32 {_
                                  ; next: mov.b32
                                  ; next: vmax4.s32.s32.s32
                                  ; next: prmt.b32
                                  ; next: vmax4.s32.s32.s32
  %y = reduce_max_u.i16x2 %b      ; check: mov.b32 {_
                                  ; next: mov.b32
                                  ; next: vmax2.u32.u32.u32
  store %x, %out1[%i]
  store %y, %out2[%i]
  ret
}
; rule: video_reduce_max_s, video_reduce_max_u
