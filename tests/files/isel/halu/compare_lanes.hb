; test: isel halu
; Comparisons of lanes: masks are all ones or none in a lane.

; A saturating difference has the sign of the comparison.
kernel @less(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %m = icmp.lt_s.i8x4 %a, %b       ; check: vsub4.s32.s32.s32.sat{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: PRMT {{.*}} 0xba98
  %mask_expand = mask_expand.i8x4 %m
  %m2 = icmp.lt_u.i8x4 %a, %b      ; check: vsub4.s32.u32.u32.sat{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: PRMT {{.*}} 0xba98
  %mask_expand2 = mask_expand.i8x4 %m2
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: video_lt_s, video_lt_u, video_less

; The operands change places.
kernel @greater(%a_in: in i16x2, %b_in: in i16x2, %a2_in: in i8x4, %b2_in: in i8x4, %out1: out i16x2,
    %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]              ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]              ; check: LDG {{.*}} rd=[[B2:v[0-9]+]]
  %m = icmp.gt_s.i16x2 %a, %b        ; check: vsub2.s32.s32.s32.sat{{.*}} ra=[[B]], r32=[[A]]
                                     ; next: PRMT {{.*}} 0xbb99
  %mask_expand = mask_expand.i16x2 %m
  %m2 = icmp.gt_u.i8x4 %a2, %b2      ; check: vsub4.s32.u32.u32.sat{{.*}} ra=[[B2]], r32=[[A2]]
                                     ; next: PRMT {{.*}} 0xba98
  %mask_expand2 = mask_expand.i8x4 %m2
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: video_gt_s, video_gt_u

; The complement of less.
kernel @not_less(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %m = icmp.ge_s.i8x4 %a, %b       ; check: vsub4.s32.s32.s32.sat{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: PRMT {{.*}} 0xba98
                                   ; next: LOP3 {{.*}} 0xf
  %mask_expand = mask_expand.i8x4 %m
  %m2 = icmp.ge_u.i8x4 %a, %b      ; check: vsub4.s32.u32.u32.sat{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: PRMT {{.*}} 0xba98
                                   ; next: LOP3 {{.*}} 0xf
  %mask_expand2 = mask_expand.i8x4 %m2
  %m3 = icmp.eq.i8x4 %a, %b        ; check: vabsdiff4.u32.u32.u32{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: vsub4.s32.u32.u32.sat
                                   ; next: PRMT {{.*}} 0xba98
                                   ; next: LOP3 {{.*}} 0xf
  %mask_expand3 = mask_expand.i8x4 %m3
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  store %mask_expand3, %out3[%i]
  ret
}
; rule: video_ge_s, video_ge_u, video_complement

kernel @not_greater(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                 ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                 ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]               ; check: LDG {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]               ; check: LDG {{.*}} rd=[[B2:v[0-9]+]]
  %m = icmp.le_s.i8x4 %a, %b          ; check: vsub4.s32.s32.s32.sat{{.*}} ra=[[B]], r32=[[A]]
                                      ; next: PRMT {{.*}} 0xba98
                                      ; next: LOP3 {{.*}} 0xf
  %mask_expand = mask_expand.i8x4 %m
  %m2 = icmp.le_u.i16x2 %a2, %b2      ; check: vsub2.s32.u32.u32.sat{{.*}} ra=[[B2]], r32=[[A2]]
                                      ; next: PRMT {{.*}} 0xbb99
                                      ; next: LOP3 {{.*}} 0xf
  %mask_expand2 = mask_expand.i16x2 %m2
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: video_le_s, video_le_u

; Unequal lanes have a distance, which taken from zero is negative.
kernel @equal(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.eq.i8x4 %a, %b       ; check: vabsdiff4.u32.u32.u32
                                 ; next: vsub4.s32.u32.u32.sat
                                 ; next: PRMT {{.*}} 0xba98
                                 ; next: LOP3 {{.*}} 0xf
  %mask_expand = mask_expand.i8x4 %m
  %m2 = icmp.ne.i8x4 %a, %b      ; check: vabsdiff4.u32.u32.u32
                                 ; next: vsub4.s32.u32.u32.sat
                                 ; next: PRMT {{.*}} 0xba98
  %mask_expand2 = mask_expand.i8x4 %m2
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: video_eq, video_ne, video_unequal

; A mask selects bits, and a condition of one bit a word.
kernel @selected(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %x_in: in i32, %y_in: in i32, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]              ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %x = load %x_in[%i]              ; check: LDG {{.*}} rd=[[X:v[0-9]+]]
  %y = load %y_in[%i]              ; check: LDG {{.*}} rd=[[Y:v[0-9]+]]
  %m = icmp.lt_s.i8x4 %a, %b       ; check: vsub4.s32.s32.s32.sat{{.*}} ra=[[A]], r32=[[B]]
                                   ; next: PRMT {{.*}} 0xba98
  %s = select.i8x4 %m, %c, %a      ; check: LOP3 {{.*}} 0xca{{.*}} r32=[[C]], r64=[[A]]
  %t = icmp.lt_s.i32 %x, %y        ; check: ISETP.LT.S32.AND{{.*}} ra=[[X]], r32=[[Y]]
  %r = select.i8x4 %t, %s, %b      ; check: SEL{{.*}} r32=[[B]]
  store %r, %out[%i]
  ret
}
; rule: select_by_mask, select_by_truth

; The lanes of a mask are there already.
kernel @expanded(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i8, %b2_in: in i8, %out1: out i8x4, %out2: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b              ; check: vsub4.s32.s32.s32.sat
                                          ; next: PRMT {{.*}} 0xba98
  %mask_expand = mask_expand.i8x4 %m
  %m2 = icmp.lt_s.i8 %a2, %b2             ; next: ISETP.LT.S32.AND
  %mask_expand2 = mask_expand.i8 %m2      ; check: SEL {{.*}} 0xffffffff
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: mask_as_lanes, truth_as_word

; Masks are words: they are joined before one PRMT expands their signs.
kernel @joined(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i8x4 %a, %b      ; check: vsub4.s32.s32.s32.sat
  %y = icmp.eq.i8x4 %a, %b        ; check: vabsdiff4.u32.u32.u32
                                  ; next: vsub4.s32.u32.u32.sat
  %z = or.i1x4 %x, %y             ; next: LOP3 {{.*}} 0xcf
  %r = mask_expand.i8x4 %z        ; next: PRMT {{.*}} 0xba98
  store %r, %out[%i]
  ret
}
; rule: word_or
; no rule: truth_or

kernel @some_and_all(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b              ; check: vsub4.s32.s32.s32.sat
                                          ; next: PRMT {{.*}} 0xba98
  %c = any.i1x4 %m                        ; check: ISETP.NE.U32.AND
  %select = select.i8x4 %c, %a, %b        ; check: SEL
  %m2 = icmp.le_s.i8x4 %a, %b             ; check: vsub4.s32.s32.s32.sat
                                          ; next: PRMT {{.*}} 0xba98
                                          ; next: LOP3 {{.*}} 0xf
  %c2 = all.i1x4 %m2                      ; check: ISETP.EQ.U32.AND {{.*}} 0xffffffff
  %select2 = select.i8x4 %c2, %a, %b      ; check: SEL
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: mask_any, mask_all

; A lane of a mask is a predicate, and a predicate is a lane.
kernel @lanes_of_masks(%a_in: in i8x4, %b_in: in i8x4, %x_in: in i32, %y_in: in i32, %out1: out i8x4,
    %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b              ; check: vsub4.s32.s32.s32.sat{{.*}} rd=[[M:v[0-9]+]]
  %c = extract.i1x4 %m, 0                 ; check: PRMT {{.*}} 0x4448{{.*}} ra=[[M]]
                                          ; next: ISETP.NE.U32.AND
  %select = select.i8x4 %c, %a, %b        ; check: SEL
  %m2 = icmp.lt_s.i8x4 %a, %b
  %c2 = extract.i1x4 %m2, 0
  %n = insert.i1x4 %m2, %c2, 2            ; check: SEL {{.*}} 0xffffffff
                                          ; next: PRMT {{.*}} 0xb498{{.*}} ra=[[M]]
  %select2 = select.i8x4 %n, %a, %b       ; check: LOP3 {{.*}} 0xca
  %c3 = icmp.lt_s.i32 %x, %y              ; check: ISETP.LT.S32.AND
  %m3 = splat.i1x4 %c3                    ; check: SEL {{.*}} 0xffffffff
  %select3 = select.i8x4 %m3, %a, %b      ; check: LOP3 {{.*}} 0xca
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %select3, %out3[%i]
  ret
}
; rule: extract_mask, insert_mask, splat_mask
