; test: isel halu
; Constants, and moving lanes about.

; A constant has a register only where an instruction takes none.
kernel @constant_in_a_word(%a_in: in i32, %x_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = load %x_in[%i]
  %k = const.i32 21
  %z = const.i32 0
  %c = icmp.lt_s.i32 %x, %z            ; check: ISETP.LT.S32.AND
  switch %x, ^b(%a), [3: ^b(%k)]
^b(%q: i32):
  %select = select.i32 %c, %q, %a      ; check: SEL
  store %select, %out[%i]
  ret
}
; rule: const_in_word

kernel @constants_in_several(%a_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i64 81985529216486895
  %add = add.i64 %a, %k      ; check: IADD3
                             ; next: IADD3.X
  store %add, %out[%i]
  ret
}
; rule: const_in_pair

; test: isel halu passes=pack
kernel @constant_vector(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1]
  %s = split.i8x4 %k, 3
  %add = add.i8x4 %a, %s      ; check: vadd4.u32.u32.u32
  store %add, %out[%i]
  ret
}
; rule: const_in_quad

; test: isel halu
kernel @select_wide(%a_in: in i64, %b_in: in i64, %a2_in: in i8x16, %b2_in: in i8x16, %x_in: in i32, %out1: out i64,
    %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                        ; check: LDG.64 {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                        ; check: LDG.64 {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                      ; check: LDG.128 {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                      ; check: LDG.128 {{.*}} rd=[[B2:v[0-9]+]]
  %x = load %x_in[%i]                        ; check: LDG {{.*}} rd=[[X:v[0-9]+]]
  %c = icmp.lt_s.i64 %a, %b
  %select = select.i64 %c, %a, %b            ; check: ISETP.LT.U32.AND{{.*}} ra=[[A]].d, r32=[[B]].d
                                             ; next: ISETP.LT.S32.AND.EX{{.*}} ra=[[A]].d[1], r32=[[B]].d[1]
                                             ; next: SEL{{.*}} ra=[[A]].d, r32=[[B]].d
                                             ; next: SEL{{.*}} ra=[[A]].d[1], r32=[[B]].d[1]
  %k = const.i32 0
  %c2 = icmp.lt_s.i32 %x, %k                 ; check: ISETP.LT.S32.AND{{.*}} ra=[[X]]
  %select2 = select.i8x16 %c2, %a2, %b2      ; check: SEL{{.*}} ra=[[A2]].q, r32=[[B2]].q
                                             ; next: SEL{{.*}} ra=[[A2]].q[1], r32=[[B2]].q[1]
                                             ; next: SEL{{.*}} ra=[[A2]].q[2], r32=[[B2]].q[2]
                                             ; next: SEL{{.*}} ra=[[A2]].q[3], r32=[[B2]].q[3]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: select_pair, select_quad

kernel @splat(%a_in: in i8, %a2_in: in f16, %out1: out i8x4, %out2: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %splat = splat.i8x4 %a         ; check: PRMT {{.*}} 0x0
  %splat2 = splat.f16x2 %a2      ; check: PRMT {{.*}} 0x1010
  store %splat, %out1[%i]
  store %splat2, %out2[%i]
  ret
}
; rule: splat_word

kernel @shuffled(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                               ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                               ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %shuffle = shuffle.i8x4 %a, %b, [0, 5, 3, 6]      ; check: PRMT {{.*}} 0x6350{{.*}} ra=[[A]], r64=[[B]]
  store %shuffle, %out[%i]
  ret
}
; rule: shuffle_word

; A lane is brought down; what is above it is nobody's.
kernel @extracted(%a_in: in i8x4, %a2_in: in f16x2, %a3_in: in i8x16, %out1: out i8, %out2: out f16,
    %out3: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %a3 = load %a3_in[%i]
  %extract = extract.i8x4 %a, 2         ; check: SHF.R.U32.HI {{.*}} 0x10
  %extract2 = extract.f16x2 %a2, 1      ; check: SHF.R.U32.HI {{.*}} 0x10
  %extract3 = extract.i8x16 %a3, 5      ; check: SHF.R.U32.HI {{.*}} 0x8
  store %extract, %out1[%i]
  store %extract2, %out2[%i]
  store %extract3, %out3[%i]
  ret
}
; rule: extract_word, extract_quad

; The lowest lane is there.
kernel @lowest_lane(%a_in: in i16x2, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = extract.i16x2 %a, 0
  %r = zext.i32 %x      ; check: PRMT {{.*}} 0x4410
  store %r, %out[%i]
  ret
}
; rule: zext_word
; never: SHF

kernel @inserted(%a_in: in i8x4, %b_in: in i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                  ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                  ; check: LDG.U8 {{.*}} rd=[[B:v[0-9]+]]
  %insert = insert.i8x4 %a, %b, 2      ; check: PRMT {{.*}} 0x3410{{.*}} ra=[[A]], r64=[[B]]
  store %insert, %out[%i]
  ret
}
; rule: insert_word

kernel @put_together(%a_in: in f16, %b_in: in f16, %a2_in: in i8, %b2_in: in i8, %c_in: in i8, %d_in: in i8,
    %out1: out f16x2, %out2: out i16, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                          ; check: LDG.U16 {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                          ; check: LDG.U16 {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                        ; check: LDG.U8 {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                        ; check: LDG.U8 {{.*}} rd=[[B2:v[0-9]+]]
  %c = load %c_in[%i]                          ; check: LDG.U8 {{.*}} rd=[[C:v[0-9]+]]
  %d = load %d_in[%i]                          ; check: LDG.U8 {{.*}} rd=[[D:v[0-9]+]]
  %concat = concat.f16x2 %a, %b                ; check: PRMT {{.*}} 0x5410{{.*}} ra=[[A]], r64=[[B]]
  %concat2 = concat.i16 %a2, %b2               ; check: PRMT {{.*}} 0x40{{.*}} ra=[[A2]], r64=[[B2]]
  %concat3 = concat.i8x4 %a2, %b2, %c, %d      ; check: PRMT {{.*}} 0x40{{.*}} ra=[[A2]], r64=[[B2]]
                                               ; next: PRMT {{.*}} 0x40{{.*}} ra=[[C]], r64=[[D]]
                                               ; next: PRMT {{.*}} 0x5410
  store %concat, %out1[%i]
  store %concat2, %out2[%i]
  store %concat3, %out3[%i]
  ret
}
; rule: concat_halves, concat_two_bytes, concat_bytes, four_bytes

; Neighbouring registers: nothing but moves.
kernel @pairs_put_together(%a_in: in i32, %b_in: in i32, %a2_in: in i16, %b2_in: in i16, %c_in: in i16,
    %d_in: in i16, %a3_in: in i64, %b3_in: in i64, %a4_in: in i8x4, %b4_in: in i8x4, %c2_in: in i8x4,
    %d2_in: in i8x4, %out1: out i64, %out2: out i64, %out3: out i8x16, %out4: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                             ; check: LDG {{.*}} rd=[[A:v\d+]].d def
  %b = load %b_in[%i]                             ; next: LDG {{.*}} rd=[[B:v\d+]].d[1] replaces [[A]].d
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %a3 = load %a3_in[%i]
  %b3 = load %b3_in[%i]
  %a4 = load %a4_in[%i]                           ; check: LDG {{.*}} rd=[[Q:v\d+]].q def
  %b4 = load %b4_in[%i]                           ; next: LDG {{.*}} rd=[[R:v\d+]].q[1] replaces [[Q]].q
  %c2 = load %c2_in[%i]                           ; next: LDG {{.*}} rd=[[S:v\d+]].q[2] replaces [[R]].q
  %d2 = load %d2_in[%i]                           ; next: LDG {{.*}} rd=[[T:v\d+]].q[3] replaces [[S]].q
  %concat = concat.i64 %a, %b
  %concat2 = concat.i64 %a2, %b2, %c, %d          ; next: PRMT {{.*}} 0x5410{{.*}} rd=[[H:v\d+]].d def
                                                  ; next: PRMT {{.*}} 0x5410{{.*}} rd=[[I:v\d+]].d[1] replaces [[H]].d
  %concat3 = concat.i8x16 %a3, %b3                ; next: MOV
                                                  ; next: MOV
                                                  ; next: MOV
                                                  ; next: MOV
  %concat4 = concat.i8x16 %a4, %b4, %c2, %d2
  store %concat, %out1[%i]                        ; next: STG.64 {{.*}} r64=[[B]].d
  store %concat2, %out2[%i]                       ; next: STG.64 {{.*}} r64=[[I]].d
  store %concat3, %out3[%i]
  store %concat4, %out4[%i]                       ; check: STG.128 {{.*}} r64=[[T]].q
  ret
}
; rule: concat_words, concat_four_halves, concat_pairs, concat_four_words

kernel @taken_apart(%a_in: in i8x16, %a2_in: in i32, %out1: out i8x4, %out2: out i8, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %split = split.i8x4 %a, 3
  %split2 = split.i8 %a2, 2      ; check: SHF.R.U32.HI {{.*}} 0x10
  %split3 = split.i64 %a, 0
  store %split, %out1[%i]
  store %split2, %out2[%i]
  store %split3, %out3[%i]
  ret
}
; rule: split_word, split_pair

kernel @same_bits(%a_in: in f32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %bitcast = bitcast.i32 %a
  store %bitcast, %out[%i]
  ret
}
; rule: bitcast_word

kernel @narrower(%a_in: in i32, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %trunc = trunc.i8 %a
  store %trunc, %out[%i]
  ret
}
; rule: trunc_word

kernel @wider(%a_in: in i8, %a2_in: in i16, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %x = add.i8 %a, %a
  %x2 = add.i16 %a2, %a2
  %zext = zext.i32 %x       ; check: PRMT {{.*}} 0x4440
  %sext = sext.i32 %x2      ; check: PRMT {{.*}} 0x9910
  store %zext, %out1[%i]
  store %sext, %out2[%i]
  ret
}
; rule: zext_word, sext_word

kernel @wider_pairs(%a_in: in i32, %a2_in: in i8, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %zext = zext.i64 %a       ; check: MOV {{.*}} rd={{v\d+}}.d[1] replaces
  %x = add.i8 %a2, %a2      ; next: vadd4
  %sext = sext.i64 %x       ; next: PRMT {{.*}} 0x8880{{.*}} rd=[[L:v\d+]].d def
                            ; next: SHF.R.S32.HI {{.*}} 0x1f{{.*}}.d[1] replaces [[L]].d
                            ; next: STG.64
  store %zext, %out1[%i]
  store %sext, %out2[%i]
  ret
}
; rule: zext_pair, sext_pair

; A narrow parameter is read with its sign, and so is what comes from memory.
kernel @sext_of_a_parameter(%s: i8, %t: i16, %w: in i8, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = sext.i32 %s            ; check: LDC.S8
  %b = sext.i32 %t            ; next: LDC.S16
  %v = load %w[%i]            ; check: LDG.S8
  %c = sext.i32 %v            ; next: STG
  store %a, %out1[%i]
  store %b, %out2[%i]
  store %c, %out3[%i]
  ret
}
; rule: sext_param
