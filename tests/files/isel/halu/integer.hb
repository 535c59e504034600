; test: isel halu
; Words, wider integers and narrow scalars.

; IADD3 adds three.
kernel @sums(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]        ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]        ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %t = add.i32 %a, %b
  %add = add.i32 %t, %c      ; check: IADD3{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  %sub = sub.i32 %a, %b      ; check: IADD3 {{.*}} -RZ{{.*}} ra=[[A]], r32=[[B]]
  %neg = neg.i32 %a          ; check: IADD3 {{.*}} -RZ{{.*}} ra=[[A]]
  store %add, %out1[%i]
  store %sub, %out2[%i]
  store %neg, %out3[%i]
  ret
}
; rule: int_add3, int_sub, int_neg

kernel @two_operands(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %add = add.i32 %a, %b      ; check: IADD3
  store %add, %out[%i]
  ret
}
; rule: int_add

kernel @absolute(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %abs = abs.i32 %a      ; check: ISETP.LT.S32.AND
                         ; next: IADD3 {{.*}} -RZ
                         ; next: SEL
  store %abs, %out[%i]
  ret
}
; rule: int_abs

kernel @products(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i64,
    %out5: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %mul = mul.i32 %a, %b                    ; check: IMAD
  %mul_hi_s = mul_hi_s.i32 %a, %b          ; check: IMAD.WIDE.S32
  %mul_hi_u = mul_hi_u.i32 %a, %b          ; check: IMAD.WIDE.U32
  %mul_wide_s = mul_wide_s.i32 %a, %b      ; check: IMAD.WIDE.S32
  %mul_wide_u = mul_wide_u.i32 %a, %b      ; check: IMAD.WIDE.U32
  store %mul, %out1[%i]
  store %mul_hi_s, %out2[%i]
  store %mul_hi_u, %out3[%i]
  store %mul_wide_s, %out4[%i]
  store %mul_wide_u, %out5[%i]
  ret
}
; rule: int_mul, int_mul_hi_s, int_mul_hi_u, int_mul_wide_s, int_mul_wide_u

; A product that is added to is one instruction.
kernel @product_and_sum(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]        ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]        ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %t = mul.i32 %a, %b
  %add = add.i32 %t, %c      ; check: IMAD{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  store %add, %out[%i]
  ret
}
; rule: int_mad

; int_mad looks for the product on the left of the sum only; one on the right, which is read elsewhere too, stays.
kernel @product_on_the_right(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]      ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %m = mul.i32 %a, %b      ; check: IMAD{{.*}} ra=[[A]], r32=[[B]]
  %r = add.i32 %c, %m      ; check: IADD3{{.*}} ra=[[C]]
  store %r, %out[%i]
  store %m, %out2[%i]
  ret
}
; rule: int_mul, int_add
; no rule: int_mad

; A product that is used elsewhere too is computed in both: the sum does not wait for it.
kernel @product_used_twice(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]      ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %m = mul.i32 %a, %b      ; check: IMAD{{.*}} ra=[[A]], r32=[[B]]
  %s = add.i32 %m, %c      ; check: IMAD{{.*}} ra=[[A]], r32=[[B]], r64=[[C]]
  %r = xor.i32 %s, %m      ; check: LOP3 {{.*}} 0x3c
  store %r, %out[%i]
  ret
}
; rule: int_mad, int_mul
; no rule: int_add

; IMAD adds; what is subtracted is not taken in.
kernel @product_subtracted(%a_in: in i32, %b_in: in i32, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %c = load %c_in[%i]      ; check: LDG {{.*}} rd=[[C:v[0-9]+]]
  %m = mul.i32 %a, %b      ; check: IMAD{{.*}} ra=[[A]], r32=[[B]]
  %r = sub.i32 %c, %m      ; check: IADD3 {{.*}} -RZ{{.*}} ra=[[C]]
  store %r, %out[%i]
  ret
}
; rule: int_mul, int_sub
; no rule: int_mad

; The sum of narrow scalars is one of lanes, and takes no product in.
kernel @narrow_product(%a_in: in i16, %b_in: in i16, %c_in: in i16, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %m = mul.i16 %a, %b      ; check: IMAD
  %r = add.i16 %m, %c      ; check: vadd2.u32.u32.u32
  store %r, %out[%i]
  ret
}
; rule: int_mul, video_add
; no rule: int_mad

kernel @narrow_products(%a_in: in i8, %b_in: in i8, %a2_in: in i16, %b2_in: in i16, %out1: out i16,
    %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                        ; check: LDG.S8
  %b = load %b_in[%i]                        ; next: LDG.S8
  %a2 = load %a2_in[%i]                      ; next: LDG.U16
  %b2 = load %b2_in[%i]                      ; next: LDG.U16
  %mul_wide_s = mul_wide_s.i8 %a, %b         ; check: IMAD
  %mul_wide_u = mul_wide_u.i16 %a2, %b2      ; next: IMAD
  store %mul_wide_s, %out1[%i]
  store %mul_wide_u, %out2[%i]
  ret
}
; rule: narrow_mul_wide_s, narrow_mul_wide_u

; Counts are modulo 32 in the instruction as in the language.
kernel @shifts(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]            ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]            ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %shl = shl.i32 %a, %b          ; check: SHF.L.U32{{.*}} r32=[[B]], ra=[[A]]
  %shr_s = shr_s.i32 %a, %b      ; check: SHF.R.S32.HI{{.*}} r32=[[B]], r64=[[A]]
  %shr_u = shr_u.i32 %a, %b      ; check: SHF.R.U32.HI{{.*}} r32=[[B]], r64=[[A]]
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: int_shl, int_shr_s, int_shr_u

kernel @shifts_by_a_constant(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i32 5
  %shl = shl.i32 %a, %k           ; check: SHF.L.U32 {{.*}} 0x5
  %k2 = const.i32 31
  %shr_s = shr_s.i32 %a, %k2      ; check: SHF.R.S32.HI {{.*}} 0x1f
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  ret
}
; rule: int_shl, int_shr_s

; Counts of narrow scalars are masked first.
kernel @narrow_shifts(%a_in: in i8, %b_in: in i8, %a2_in: in i16, %b2_in: in i16, %out1: out i8, %out2: out i8,
    %out3: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: LDG.U8 {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: LDG.U8 {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]            ; check: LDG.U16 {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]            ; check: LDG.U16 {{.*}} rd=[[B2:v[0-9]+]]
  %shl = shl.i8 %a, %b             ; check: LOP3 {{.*}} 0x7, {{.*}} 0xc0{{.*}} ra=[[B]]
                                   ; next: SHF.L.U32{{.*}} ra=[[A]]
  %shr_s = shr_s.i8 %a, %b         ; check: PRMT {{.*}} 0x8880{{.*}} ra=[[A]]
                                   ; next: LOP3 {{.*}} 0x7, {{.*}} 0xc0{{.*}} ra=[[B]]
                                   ; next: SHF.R.S32.HI
  %shr_u = shr_u.i16 %a2, %b2      ; check: LOP3 {{.*}} 0xf, {{.*}} 0xc0{{.*}} ra=[[B2]]
                                   ; next: SHF.R.U32.HI{{.*}} r64=[[A2]]
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: narrow_shl, narrow_shr_s, narrow_shr_u, narrow_count

kernel @narrow_shift_by_constant(%a_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8 3
  %r = shl.i8 %a, %k        ; check: SHF.L.U32 {{.*}} 0x3
  store %r, %out[%i]
  ret
}
; rule: narrow_count_known
; no rule: narrow_count

kernel @bits(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %and = and.i32 %a, %b      ; check: LOP3 {{.*}} 0xc0
  %or = or.i32 %a, %b        ; check: LOP3 {{.*}} 0xfc
  %xor = xor.i32 %a, %b      ; check: LOP3 {{.*}} 0x3c
  %not = not.i32 %a          ; check: LOP3 {{.*}} 0xf
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  store %not, %out4[%i]
  ret
}
; rule: word_and, word_or, word_xor, word_not

kernel @bits_of_four_bytes(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i16x2, %b2_in: in i16x2, %out1: out i8x4,
    %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %b2 = load %b2_in[%i]
  %and = and.i8x4 %a, %b         ; check: LOP3 {{.*}} 0xc0
  %xor = xor.i16x2 %a2, %b2      ; check: LOP3 {{.*}} 0x3c
  store %and, %out1[%i]
  store %xor, %out2[%i]
  ret
}
; rule: word_and, word_xor

kernel @pairs(%a_in: in i64, %b_in: in i64, %out1: out i64, %out2: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: LDG.64 {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]        ; check: LDG.64 {{.*}} rd=[[B:v[0-9]+]]
  %add = add.i64 %a, %b      ; check: IADD3{{.*}} ra=[[A]].d, r32=[[B]].d
                             ; next: IADD3.X{{.*}} ra=[[A]].d[1], r32=[[B]].d[1]
  %sub = sub.i64 %a, %b      ; check: IADD3 {{.*}} -RZ{{.*}} ra=[[A]].d, r32=[[B]].d
                             ; next: IADD3.X {{.*}} -RZ{{.*}} ra=[[A]].d[1], r32=[[B]].d[1]
  store %add, %out1[%i]
  store %sub, %out2[%i]
  ret
}
; rule: pair_add, pair_sub

; Word by word.
kernel @bits_of_pairs(%a_in: in i64, %b_in: in i64, %out1: out i64, %out2: out i64, %out3: out i64,
    %out4: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %and = and.i64 %a, %b      ; check: LOP3 {{.*}} 0xc0{{.*}} rd=[[AND:v\d+]].d def
                             ; next: LOP3 {{.*}} 0xc0{{.*}} rd={{v\d+}}.d[1] replaces [[AND]].d
  %or = or.i64 %a, %b        ; check: LOP3 {{.*}} 0xfc{{.*}} rd=[[OR:v\d+]].d def
                             ; next: LOP3 {{.*}} 0xfc{{.*}} rd={{v\d+}}.d[1] replaces [[OR]].d
  %xor = xor.i64 %a, %b      ; check: LOP3 {{.*}} 0x3c{{.*}} rd=[[XOR:v\d+]].d def
                             ; next: LOP3 {{.*}} 0x3c{{.*}} rd={{v\d+}}.d[1] replaces [[XOR]].d
  %not = not.i64 %a          ; check: LOP3 {{.*}} 0xf{{.*}} rd=[[NOT:v\d+]].d def
                             ; next: LOP3 {{.*}} 0xf{{.*}} rd={{v\d+}}.d[1] replaces [[NOT]].d
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  store %not, %out4[%i]
  ret
}
; rule: pair_and, pair_or, pair_by_words, pair_not

kernel @exclusive_or_of_pairs(%a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %xor = xor.i64 %a, %b      ; check: LOP3 {{.*}} 0x3c{{.*}} rd=[[XOR:v\d+]].d def
                             ; next: LOP3 {{.*}} 0x3c{{.*}} rd={{v\d+}}.d[1] replaces [[XOR]].d
  store %xor, %out[%i]
  ret
}
; rule: pair_xor

kernel @comparisons(%a_in: in i32, %b_in: in i32, %a2_in: in i8, %b2_in: in i8, %a3_in: in i64, %b3_in: in i64,
    %out1: out i32, %out2: out i8, %out3: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: LDG {{.*}} rd=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: LDG {{.*}} rd=[[B:v[0-9]+]]
  %a2 = load %a2_in[%i]                    ; check: LDG.U8 {{.*}} rd=[[A2:v[0-9]+]]
  %b2 = load %b2_in[%i]                    ; check: LDG.U8 {{.*}} rd=[[B2:v[0-9]+]]
  %a3 = load %a3_in[%i]                    ; check: LDG.64 {{.*}} rd=[[A3:v[0-9]+]]
  %b3 = load %b3_in[%i]                    ; check: LDG.64 {{.*}} rd=[[B3:v[0-9]+]]
  %c = icmp.eq.i32 %a, %b                  ; check: ISETP.EQ.U32.AND{{.*}} ra=[[A]], r32=[[B]]
  %select = select.i32 %c, %a, %b          ; check: SEL{{.*}} ra=[[A]], r32=[[B]]
  %c2 = icmp.ne.i8 %a2, %b2                ; check: ISETP.NE.U32.AND{{.*}} ra=[[A2]], r32=[[B2]]
  %select2 = select.i8 %c2, %a2, %b2       ; check: SEL{{.*}} ra=[[A2]], r32=[[B2]]
  %c3 = icmp.eq.i64 %a3, %b3               ; check: ISETP.EQ.U32.AND{{.*}} ra=[[A3]].d, r32=[[B3]].d
                                           ; next: ISETP.EQ.U32.AND.EX{{.*}} ra=[[A3]].d[1], r32=[[B3]].d[1]
  %select3 = select.i64 %c3, %a3, %b3      ; check: SEL{{.*}} ra=[[A3]].d, r32=[[B3]].d
                                           ; next: SEL{{.*}} ra=[[A3]].d[1], r32=[[B3]].d[1]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %select3, %out3[%i]
  ret
}
; rule: int_icmp, narrow_icmp, pair_icmp

; Bits below a shifted word are added, by the instruction that shifts.
kernel @low_bits(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 31
  %n = const.i32 5
  %y = and.i32 %b, %k
  %x = shl.i32 %a, %n
  %r = or.i32 %y, %x         ; check: LEA
  store %r, %out[%i]
  ret
}
; rule: low_or_shl

; Bits that overlap.
kernel @overlapping_bits(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %k = const.i32 63
  %n = const.i32 5
  %y = and.i32 %b, %k
  %x = shl.i32 %a, %n
  %r = or.i32 %y, %x         ; check: LOP3
  store %r, %out[%i]
  ret
}
; no rule: low_or_shl
