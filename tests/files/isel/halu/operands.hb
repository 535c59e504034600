; test: isel halu
; What instructions take in place of a register, and what they do not.
kernel @constants_and_parameters(%a_in: in i32, %s: i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 -559038737
  %xor = xor.i32 %a, %k      ; check: LOP3 {{.*}} 0xdeadbeef, {{.*}} 0x3c
  %add = add.i32 %a, %s      ; check: IADD3 {{.*}} c[0x0][0x168]
  store %xor, %out1[%i]
  store %add, %out2[%i]
  ret
}
; rule: src_const, src_param

kernel @signs_of_halves(%a_in: in f16x2, %b_in: in f16x2, %out1: out f16x2, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]             ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]             ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %n = fneg.f16x2 %a
  %fmul = fmul.f16x2 %n, %b       ; check: HMUL2 {{.*}} -RZ{{.*}} ra=[[A]], r32=[[B]]
  %n2 = fabs.f16x2 %b
  %fadd = fadd.f16x2 %a, %n2      ; check: HADD2 {{.*}} |RZ|{{.*}} ra=[[A]], r32=[[B]]
  store %fmul, %out1[%i]
  store %fadd, %out2[%i]
  ret
}
; rule: half_negated, half_absolute

; A negation is outside of an absolute value: both are the operand's.
kernel @negated_magnitude(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = fabs.f16x2 %a
  %m = fneg.f16x2 %n
  %r = fmul.f16x2 %m, %b      ; check: HMUL2 {{.*}} -|RZ|
  store %r, %out[%i]
  ret
}
; rule: half_absolute, half_negated
; never: LOP3

kernel @one_half_for_both_lanes(%a_in: in f16x2, %b_in: in f16, %b2_in: in f16x2, %out1: out f16x2, %out2: out f16,
    %out3: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %b2 = load %b2_in[%i]
  %n = splat.f16x2 %b
  %fadd = fadd.f16x2 %a, %n        ; check: HADD2 {{.*}} RZ.H0_H0
  %x = extract.f16x2 %a, 0
  %y = extract.f16x2 %b2, 1
  %fmul = fmul.f16 %x, %y          ; check: HMUL2 {{.*}} RZ.H0_H0, RZ.H1_H1
  %n2 = shuffle.f16x2 %b2, %b2, [0, 0]
  %fadd2 = fadd.f16x2 %a, %n2      ; check: HADD2 {{.*}} RZ.H0_H0
  store %fadd, %out1[%i]
  store %fmul, %out2[%i]
  store %fadd2, %out3[%i]
  ret
}
; rule: half_splat, half_extract, half_broadcast

; Only one half for both lanes is an operand; exchanged ones are not.
kernel @exchanged_halves(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %n = shuffle.f16x2 %b, %b, [1, 0]      ; check: PRMT {{.*}} 0x1032{{.*}} ra=[[B]], r64=[[B]]
  %r = fadd.f16x2 %a, %n                 ; check: HADD2{{.*}} ra=[[A]]
  store %r, %out[%i]
  ret
}
; rule: shuffle_word
; no rule: half_broadcast

kernel @signs_of_singles(%a_in: in f32, %b_in: in f32, %out1: out f32, %out2: out f32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.f32 1.5
  %n = fneg.f32 %a
  %fmul = fmul.f32 %n, %k      ; check: FMUL {{.*}} -RZ, 1.5
  %n2 = fabs.f32 %b
  %m = fneg.f32 %n2
  %fadd = fadd.f32 %a, %m      ; check: FADD {{.*}} -|RZ|
  store %fmul, %out1[%i]
  store %fadd, %out2[%i]
  ret
}
; rule: float_negated, float_absolute

; IADD3 negates its operands.
kernel @signs_of_words(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %n = neg.i32 %a
  %r = sub.i32 %n, %b      ; check: IADD3 {{.*}} -RZ, -RZ{{.*}} ra=[[A]], r32=[[B]]
  store %r, %out[%i]
  ret
}
; rule: int_negated, int_sub

; IADD3 negates, but takes no absolute value.
kernel @no_absolute_words(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = abs.i32 %b          ; check: ISETP.LT.S32.AND
                           ; next: IADD3 {{.*}} -RZ
                           ; next: SEL
  %r = add.i32 %a, %n      ; check: IADD3
  store %r, %out[%i]
  ret
}
; rule: int_abs, int_add
; no rule: int_negated

; Video instructions pick their lanes.
kernel @lanes(%a_in: in i8x4, %b_in: in i8x4, %b2_in: in i8, %out1: out i8x4, %out2: out i8x4, %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                     ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                     ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %b2 = load %b2_in[%i]                   ; check: LDG.U8 {{.*}} rd=[[B2:v[0-9]+]]
  %n = shuffle.i8x4 %b, %a, [3, 2, 0, 0]
  %add_sat_u = add_sat_u.i8x4 %a, %n      ; check: vadd4.u32.u32.u32.sat {{.*}} RZ.b4467{{.*}} ra=[[A]], r32=[[B]]
  %n2 = splat.i8x4 %b2
  %min_u = min_u.i8x4 %a, %n2             ; check: vmin4.u32.u32.u32 {{.*}} RZ.b4444{{.*}} ra=[[A]], r32=[[B2]]
  %x = extract.i8x4 %a, 1
  %y = extract.i8x4 %b, 0
  %absdiff_u = absdiff_u.i8 %x, %y        ; check: vabsdiff4.u32.u32.u32 {{.*}} RZ.b1111, RZ.b4444{{.*}} ra=[[A]], r32=[[B]]
  store %add_sat_u, %out1[%i]
  store %min_u, %out2[%i]
  store %absdiff_u, %out3[%i]
  ret
}
; rule: lanes_shuffled, lanes_splat, lanes_extract

; Lanes of zeros are an operand.
kernel @no_lanes(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x4 0
  %r = sub_sat_s.i8x4 %k, %a      ; check: vsub4.s32.s32.s32.sat
  store %r, %out[%i]
  ret
}
; rule: lanes_zero, video_sub_sat_s

; Lanes of two values are put together first.
kernel @lanes_of_two_values(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = shuffle.i8x4 %b, %a, [0, 5, 3, 6]      ; check: PRMT {{.*}} 0x6350
  %r = add_sat_u.i8x4 %a, %n                  ; check: vadd4.u32.u32.u32.sat
  store %r, %out[%i]
  ret
}
; rule: shuffle_word
; no rule: lanes_shuffled

; Lanes of halfwords are none of bytes.
kernel @lanes_of_another_width(%a_in: in i8x4, %b_in: in i16x2, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %n = shuffle.i16x2 %b, %b, [1, 0]      ; check: PRMT {{.*}} 0x1032
  %m = bitcast.i8x4 %n
  %r = add_sat_u.i8x4 %a, %m             ; check: vadd4.u32.u32.u32.sat
  store %r, %out[%i]
  ret
}
; rule: shuffle_word, video_add_sat_u
; no rule: lanes_shuffled

; A shuffle with two uses is in both of them, and none of its own.
kernel @lanes_used_twice(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]             ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]             ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %n = shuffle.i8x4 %b, %b, [3, 2, 0, 0]
  %q = add_sat_u.i8x4 %a, %n      ; check: vadd4.u32.u32.u32.sat {{.*}} RZ.b4467{{.*}} ra=[[A]], r32=[[B]]
  %r = sub.i8x4 %q, %n            ; check: vsub4.u32.u32.u32 {{.*}} RZ.b4467{{.*}} r32=[[B]]
  store %r, %out[%i]
  ret
}
; rule: lanes_shuffled
; never: PRMT

; A predicate is negated where it is used.
kernel @predicates(%a_in: in i8x4, %b_in: in i8x4, %x_in: in i32, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b       ; check: vsub4.s32.s32.s32.sat
                                   ; next: PRMT {{.*}} 0xba98
  %p = any.i1x4 %m                 ; check: ISETP.NE.U32.AND
  %n = not.i1 %p
  %k = const.i32 0
  %q = icmp.lt_s.i32 %x, %k        ; check: ISETP.LT.S32.AND
  %c = or.i1 %n, %q                ; check: PLOP3 {{.*}} 0xfc
  %r = select.i8x4 %c, %a, %b      ; check: SEL
  store %r, %out[%i]
  ret
}
; rule: pred_not, truth_or
