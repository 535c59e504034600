; test: isel halu
; Lanes of bytes and halfwords by the video instructions: type, saturation and order of the operands.
kernel @sums(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4, %out2: out i16x2,
    %out3: out i8x4, %out4: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                        ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                        ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                      ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                      ; check: LDG {{.*}} rd=[[B2:v[0-9]+]]
  %add = add.i8x4 %a, %b                     ; check: vadd4.u32.u32.u32{{.*}} ra=[[A]], r32=[[B]]
  %sub = sub.i16x2 %a2, %b2                  ; check: vsub2.u32.u32.u32{{.*}} ra=[[A2]], r32=[[B2]]
  %add_sat_s = add_sat_s.i8x4 %a, %b         ; check: vadd4.s32.s32.s32.sat{{.*}} ra=[[A]], r32=[[B]]
  %add_sat_u = add_sat_u.i16x2 %a2, %b2      ; check: vadd2.u32.u32.u32.sat{{.*}} ra=[[A2]], r32=[[B2]]
  store %add, %out1[%i]
  store %sub, %out2[%i]
  store %add_sat_s, %out3[%i]
  store %add_sat_u, %out4[%i]
  ret
}
; rule: video_add, video_sub, video_add_sat_s, video_add_sat_u

kernel @differences(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i8x4, %out3: out i16x2, %out4: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                        ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                        ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                      ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                      ; check: LDG {{.*}} rd=[[B2:v[0-9]+]]
  %sub_sat_s = sub_sat_s.i8x4 %a, %b         ; check: vsub4.s32.s32.s32.sat{{.*}} ra=[[A]], r32=[[B]]
  %sub_sat_u = sub_sat_u.i8x4 %a, %b         ; check: vsub4.u32.u32.u32.sat{{.*}} ra=[[A]], r32=[[B]]
  %absdiff_s = absdiff_s.i16x2 %a2, %b2      ; check: vabsdiff2.s32.s32.s32{{.*}} ra=[[A2]], r32=[[B2]]
  %absdiff_u = absdiff_u.i8x4 %a, %b         ; check: vabsdiff4.u32.u32.u32{{.*}} ra=[[A]], r32=[[B]]
  store %sub_sat_s, %out1[%i]
  store %sub_sat_u, %out2[%i]
  store %absdiff_s, %out3[%i]
  store %absdiff_u, %out4[%i]
  ret
}
; rule: video_sub_sat_s, video_sub_sat_u, video_absdiff_s, video_absdiff_u

kernel @averages(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %avg_s = avg_s.i8x4 %a, %b         ; check: vavrg4.s32.s32.s32
  %avg_u = avg_u.i16x2 %a2, %b2      ; check: vavrg2.u32.u32.u32
  store %avg_s, %out1[%i]
  store %avg_u, %out2[%i]
  ret
}
; rule: video_avg_s, video_avg_u

kernel @extremes_s(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %min_s = min_s.i8x4 %a, %b         ; check: vmin4.s32.s32.s32
  %max_s = max_s.i16x2 %a2, %b2      ; check: vmax2.s32.s32.s32
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  ret
}
; rule: video_min_s, video_max_s

kernel @extremes_u(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %min_u = min_u.i8x4 %a, %b         ; check: vmin4.u32.u32.u32
  %max_u = max_u.i16x2 %a2, %b2      ; check: vmax2.u32.u32.u32
  store %min_u, %out1[%i]
  store %max_u, %out2[%i]
  ret
}
; rule: video_min_u, video_max_u

; Negation subtracts from zero; the absolute value is the distance from it.
kernel @signs(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %neg = neg.i8x4 %a       ; check: vsub4.u32.u32.u32{{.*}} r32=[[A]]
  %abs = abs.i8x4 %a       ; check: vabsdiff4.s32.s32.s32{{.*}} ra=[[A]]
  store %neg, %out1[%i]
  store %abs, %out2[%i]
  ret
}
; rule: video_neg, video_abs

; Lanes of narrow scalars: the others are nobody's.
kernel @scalars(%a_in: in i8, %b_in: in i8, %a2_in: in i16, %b2_in: in i16, %out1: out i8, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %add = add.i8 %a, %b             ; check: vadd4.u32.u32.u32
  %avg_u = avg_u.i16 %a2, %b2      ; check: vavrg2.u32.u32.u32
  store %add, %out1[%i]
  store %avg_u, %out2[%i]
  ret
}
; rule: video_add, video_avg_u

; The accumulator is the third operand.
kernel @sums_of_lanes(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i32, %a2_in: in i16x2, %out1: out i32,
    %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                         ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                         ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]                         ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %a2 = load %a2_in[%i]                       ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %sad_u = sad_u.i8x4 %a, %b, %c              ; check: vabsdiff4.u32.u32.u32.add{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  %sad_s = sad_s.i8x4 %a, %b, %c              ; check: vabsdiff4.s32.s32.s32.add{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  %reduce_add_u = reduce_add_u.i8x4 %a        ; check: vadd4.u32.u32.u32.add{{.*}} ra=[[A]]
  %reduce_add_s = reduce_add_s.i16x2 %a2      ; check: vadd2.s32.s32.s32.add{{.*}} ra=[[A2]]
  store %sad_u, %out1[%i]
  store %sad_s, %out2[%i]
  store %reduce_add_u, %out3[%i]
  store %reduce_add_s, %out4[%i]
  ret
}
; rule: video_sad_u, video_sad_s, video_reduce_add_u, video_reduce_add_s

kernel @extremes_of_lanes_s(%a_in: in i8x4, %a2_in: in i16x2, %out1: out i8, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %reduce_min_s = reduce_min_s.i8x4 %a        ; check: vmin4.s32.s32.s32 {{.*}} RZ.b1010, RZ.b7676
                                              ; next: vmin4.s32.s32.s32 {{.*}} RZ.b5555
  %reduce_max_s = reduce_max_s.i16x2 %a2      ; check: vmax2.s32.s32.s32 {{.*}} RZ.h00, RZ.h33
  store %reduce_min_s, %out1[%i]
  store %reduce_max_s, %out2[%i]
  ret
}
; rule: video_reduce_min_s, video_reduce_max_s

kernel @extremes_of_lanes_u(%a_in: in i8x4, %a2_in: in i16x2, %out1: out i8, %out2: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %reduce_min_u = reduce_min_u.i8x4 %a        ; check: vmin4.u32.u32.u32 {{.*}} RZ.b1010, RZ.b7676
                                              ; next: vmin4.u32.u32.u32 {{.*}} RZ.b5555
  %reduce_max_u = reduce_max_u.i16x2 %a2      ; check: vmax2.u32.u32.u32 {{.*}} RZ.h00, RZ.h33
  store %reduce_min_u, %out1[%i]
  store %reduce_max_u, %out2[%i]
  ret
}
; rule: video_reduce_min_u, video_reduce_max_u

; By one constant for all lanes: a shift of the word and a mask.
kernel @shifts(%a_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 3
  %shl = shl.i8x4 %a, %k           ; check: SHF.L.U32 {{.*}} 0x3
                                   ; next: LOP3 {{.*}} 0xf8f8f8f8, {{.*}} 0xc0
  %k2 = const.i8x4 3
  %shr_u = shr_u.i8x4 %a, %k2      ; check: SHF.R.U32.HI {{.*}} 0x3
                                   ; next: LOP3 {{.*}} 0x1f1f1f1f, {{.*}} 0xc0
  %k3 = const.i8x4 3
  %shr_s = shr_s.i8x4 %a, %k3      ; check: SHF.R.U32.HI {{.*}} 0x3
                                   ; next: MOV {{.*}} 0x10101010
                                   ; next: LOP3 {{.*}} 0x1f1f1f1f, {{.*}} 0x6a
                                   ; next: vsub4.u32.u32.u32
  store %shl, %out1[%i]
  store %shr_u, %out2[%i]
  store %shr_s, %out3[%i]
  ret
}
; rule: video_shl, video_shr_u, video_shr_s

; A sum of absolute differences takes the accumulator in, whatever side it stands on.
kernel @sad_of_its_own_sum(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %s = load %s_in[%i]      ; check: LDG {{.*}} rd=[[S:v[0-9]+]]
  %d = absdiff_u.i8x4 %a, %b
  %t = reduce_add_u.i8x4 %d
  %r = add.i32 %s, %t      ; check: vabsdiff4.u32.u32.u32.add{{.*}} ra=[[A]], r32=[[B]], r64=[[S]]
  store %r, %out[%i]
  ret
}
; rule: video_sad_u, sum_of_differences_u
; no rule: int_add
; never: IADD3

; Distances are unsigned: as signed numbers they are no sum of absolute differences.
kernel @signed_sum_of_unsigned_distances(%a_in: in i8x4, %b_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = absdiff_u.i8x4 %a, %b      ; check: vabsdiff4.u32.u32.u32
  %r = reduce_add_s.i8x4 %d       ; check: vadd4.s32.s32.s32.add
  store %r, %out[%i]
  ret
}
; rule: video_absdiff_u, video_reduce_add_s
; no rule: video_sad_u, sum_of_differences_u

; Lanes are compared with a parameter by their bitwise difference.
kernel @unequal_to_a_parameter(%a_in: in i8x4, %p: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = icmp.ne.i8x4 %a, %p    ; check: LOP3 {{.*}} c[0x0]
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: video_unequal_param

kernel @below_a_parameter(%a_in: in i8x4, %p: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %m = icmp.lt_u.i8x4 %a, %p
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; no rule: video_unequal_param
