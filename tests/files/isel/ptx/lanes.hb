; test: isel ptx
; Constants, and moving lanes about.

; A constant has a register only where an instruction takes none.
kernel @constant_in_a_word(%a_in: in i32, %x_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = load %x_in[%i]
  %k = const.i32 21
  %z = const.i32 0
  %c = icmp.lt_s.i32 %x, %z            ; check: setp.lt.s32
  switch %x, ^b(%a), [3: ^b(%k)]       ; check: setp.eq.u32
^b(%q: i32):
  %select = select.i32 %c, %q, %a      ; check: selp.b32
  store %select, %out[%i]
  ret
}
; rule: const_in_word

kernel @constants_in_several(%a_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                   ; check: ld.global.nc.b64
  %k = const.i64 81985529216486895
  %add = add.i64 %a, %k                 ; check: add.u64
                                        ; next: mov.b64
  store %add, %out[%i]
  ret
}
; rule: const_in_pair

; test: isel ptx passes=pack
kernel @constant_vector(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1]
  %s = split.i8x4 %k, 3
  %add = add.i8x4 %a, %s                                                       ; check: vadd4.u32.u32.u32
  store %add, %out[%i]
  ret
}
; rule: const_in_quad

; test: isel ptx
kernel @select_wide(%a_in: in i64, %b_in: in i64, %a2_in: in i8x16, %b2_in: in i8x16, %x_in: in i32, %out1: out i64,
    %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %x = load %x_in[%i]
  %c = icmp.lt_s.i64 %a, %b
  %select = select.i64 %c, %a, %b            ; check: setp.lt.s64
                                             ; next: selp.b32
                                             ; next: selp.b32
  %k = const.i32 0
  %c2 = icmp.lt_s.i32 %x, %k                 ; check: setp.lt.s32
  %select2 = select.i8x16 %c2, %a2, %b2      ; check: selp.b32
                                             ; next: selp.b32
                                             ; next: selp.b32
                                             ; next: selp.b32
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
  %splat = splat.i8x4 %a         ; check: prmt.b32 {{.*}}, 0
  %splat2 = splat.f16x2 %a2      ; check: mov.b32
                                 ; next: mov.b32
  store %splat, %out1[%i]
  store %splat2, %out2[%i]
  ret
}
; rule: splat_word

kernel @shuffled(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shuffle = shuffle.i8x4 %a, %b, [0, 5, 3, 6]      ; check: prmt.b32 {{.*}}, 0x6350
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
  %extract = extract.i8x4 %a, 2         ; check: shr.u32 {{.*}}, 16
  %extract2 = extract.f16x2 %a2, 1      ; check: mov.b32
                                        ; next: mov.b32
  %extract3 = extract.i8x16 %a3, 5      ; check: shr.u32 {{.*}}, 8
  store %extract, %out1[%i]
  store %extract2, %out2[%i]
  store %extract3, %out3[%i]
  ret
}
; rule: extract_word, extract_quad

kernel @inserted(%a_in: in i8x4, %b_in: in i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %insert = insert.i8x4 %a, %b, 2      ; check: prmt.b32 {{.*}}, 0x3410
  store %insert, %out[%i]
  ret
}
; rule: insert_word

kernel @put_together(%a_in: in f16, %b_in: in f16, %a2_in: in i8, %b2_in: in i8, %c_in: in i8, %d_in: in i8,
    %out1: out f16x2, %out2: out i16, %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %concat = concat.f16x2 %a, %b                ; check: mov.b32
                                               ; next: mov.b32
                                               ; next: mov.b32
  %concat2 = concat.i16 %a2, %b2               ; check: prmt.b32 {{.*}}, 0x40
  %concat3 = concat.i8x4 %a2, %b2, %c, %d      ; check: prmt.b32 {{.*}}, 0x40
                                               ; next: prmt.b32 {{.*}}, 0x40
                                               ; next: mov.b32
                                               ; next: mov.b32
                                               ; next: mov.b32
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
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %a3 = load %a3_in[%i]
  %b3 = load %b3_in[%i]
  %a4 = load %a4_in[%i]
  %b4 = load %b4_in[%i]
  %c2 = load %c2_in[%i]
  %d2 = load %d2_in[%i]
  %concat = concat.i64 %a, %b
  %concat2 = concat.i64 %a2, %b2, %c, %d          ; check: mov.b32
                                                  ; next: mov.b32
                                                  ; next: mov.b32
                                                  ; next: mov.b32
                                                  ; next: mov.b32
                                                  ; next: mov.b32
  %concat3 = concat.i8x16 %a3, %b3
  %concat4 = concat.i8x16 %a4, %b4, %c2, %d2
  store %concat, %out1[%i]
  store %concat2, %out2[%i]
  store %concat3, %out3[%i]
  store %concat4, %out4[%i]
  ret
}
; rule: concat_words, concat_four_halves, concat_pairs, concat_four_words

kernel @taken_apart(%a_in: in i8x16, %a2_in: in i32, %out1: out i8x4, %out2: out i8, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %split = split.i8x4 %a, 3
  %split2 = split.i8 %a2, 2      ; check: shr.u32 {{.*}}, 16
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
