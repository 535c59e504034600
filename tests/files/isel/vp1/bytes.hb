; test: isel vp1
; Sixteen bytes: arithmetic of the vector unit.

; The accumulator is exact; a quarter of its low half is the sum that wraps.
kernel @sums_that_wrap(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]          ; check: ldavh {{.*}} 0x10
  %add = add.i8x16 %a, %b      ; check: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u 0x4
                               ; next: vmac s rd int -0x2 lo {{.*}} u {{.*}} u 0x4
  store %add, %out[%i]
  ret
}
; rule: bytes_add, sum_of_products

kernel @differences_that_wrap(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]          ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %sub = sub.i8x16 %a, %b      ; check: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u 0x4{{.*}} SRC1=[[A]]
                               ; next: vmac s rd int -0x2 lo {{.*}} u {{.*}} s 0xfc{{.*}} SRC1=[[B]]
  store %sub, %out[%i]
  ret
}
; rule: bytes_sub, difference_of_products

kernel @signs(%a_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldavh {{.*}} 0x10
  %neg = neg.i8x16 %a      ; check: vmul s rd int -0x2 lo {{.*}} s {{.*}} s 0xfc
  %abs = abs.i8x16 %a      ; check: vmul s rd int -0x2 lo {{.*}} s {{.*}} s 0xfc
                           ; next: vmin u
  store %neg, %out1[%i]
  store %abs, %out2[%i]
  ret
}
; rule: bytes_neg, neg_of_product, low_quarter_down, bytes_abs

kernel @sums_that_saturate(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16,
    %out4: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %add_sat_s = add_sat_s.i8x16 %a, %b      ; check: vadd s{{.*}} SRC2=[[B]], SRC1=[[A]]
  %add_sat_u = add_sat_u.i8x16 %a, %b      ; check: vadd u{{.*}} SRC2=[[B]], SRC1=[[A]]
  %sub_sat_s = sub_sat_s.i8x16 %a, %b      ; check: vsub s{{.*}} SRC2=[[B]], SRC1=[[A]]
  %sub_sat_u = sub_sat_u.i8x16 %a, %b      ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
  store %add_sat_s, %out1[%i]
  store %add_sat_u, %out2[%i]
  store %sub_sat_s, %out3[%i]
  store %sub_sat_u, %out4[%i]
  ret
}
; rule: bytes_add_sat_s, bytes_add_sat_u, bytes_sub_sat_s, bytes_sub_sat_u

; The same byte for all lanes is an operand of the instruction.
kernel @constants(%a_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 100
  %add_sat_s = add_sat_s.i8x16 %k, %a      ; check: vadd s {{.*}} 0x64
  %k2 = const.i8x16 200
  %max_u = max_u.i8x16 %k2, %a             ; check: vmax u {{.*}} 0xc8
  store %add_sat_s, %out1[%i]
  store %max_u, %out2[%i]
  ret
}
; rule: bytes_add_sat_s, bytes_max_u

kernel @extremes(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16,
    %out4: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %min_s = min_s.i8x16 %a, %b      ; check: vmin s
  %min_u = min_u.i8x16 %a, %b      ; check: vmin u
  %max_s = max_s.i8x16 %a, %b      ; check: vmax s
  %max_u = max_u.i8x16 %a, %b      ; check: vmax u
  store %min_s, %out1[%i]
  store %min_u, %out2[%i]
  store %max_s, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
; rule: bytes_min_s, bytes_min_u, bytes_max_s, bytes_max_u

; Half way between two bytes, to nearest.
kernel @average_u(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %avg_u = avg_u.i8x16 %a, %b      ; check: vlrp rn
  store %avg_u, %out[%i]
  ret
}
; rule: bytes_avg_u

; Rounded away from 0.
kernel @average_s(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %avg_s = avg_s.i8x16 %a, %b      ; check: vmul s rd int {{.*}} hi {{.*}} s {{.*}} u 0x4
                                   ; next: vmac s rd int -0x3 lo {{.*}} s {{.*}} u 0x4
                                   ; next: vmac s rn int -0x3 lo {{.*}} u {{.*}} u
                                   ; next: vmin s
                                   ; next: vmax s
                                   ; next: vor
  store %avg_s, %out[%i]
  ret
}
; rule: bytes_avg_s

kernel @distances(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %absdiff_u = absdiff_u.i8x16 %a, %b      ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: vsub u{{.*}} SRC2=[[A]], SRC1=[[B]]
                                           ; next: vor
  %absdiff_s = absdiff_s.i8x16 %a, %b      ; check: vmax s{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: vmin s{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u 0x4
                                           ; next: vmac s rd int -0x2 lo {{.*}} u {{.*}} s 0xfc
  store %absdiff_u, %out1[%i]
  store %absdiff_s, %out2[%i]
  ret
}
; rule: bytes_absdiff_u, distance_of_bytes_u, bytes_absdiff_s, distance_of_bytes_s

kernel @products(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldavh {{.*}} 0x10
  %mul = mul.i8x16 %a, %b                ; check: vmul u rd int {{.*}} lo {{.*}} u {{.*}} u
  %mul_hi_u = mul_hi_u.i8x16 %a, %b      ; check: vmul u rd int {{.*}} hi {{.*}} u {{.*}} u
  %mul_hi_s = mul_hi_s.i8x16 %a, %b      ; check: vmul s rd int {{.*}} hi {{.*}} s {{.*}} s
  store %mul, %out1[%i]
  store %mul_hi_u, %out2[%i]
  store %mul_hi_s, %out3[%i]
  ret
}
; rule: bytes_mul, bytes_mul_hi_u, bytes_mul_hi_s

kernel @shifts_by_a_constant(%a_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]               ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 1
  %shl = shl.i8x16 %a, %k           ; check: vshr u {{.*}} 0xf
  %k2 = const.i8x16 4
  %shr_s = shr_s.i8x16 %a, %k2      ; check: vshr s {{.*}} 0x4
  %k3 = const.i8x16 7
  %shr_u = shr_u.i8x16 %a, %k3      ; check: vshr u {{.*}} 0x7
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: bytes_shl_by, bytes_shr_s_by, bytes_shr_u_by

kernel @shifts(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %shl = shl.i8x16 %a, %b          ; check: vand {{.*}} 0x7{{.*}} SRC1=[[B]]
                                   ; next: vneg s
                                   ; next: vshr u{{.*}} SRC1=[[A]]
  %shr_s = shr_s.i8x16 %a, %b      ; check: vand {{.*}} 0x7{{.*}} SRC1=[[B]]
                                   ; next: vshr s{{.*}} SRC1=[[A]]
  %shr_u = shr_u.i8x16 %a, %b      ; check: vand {{.*}} 0x7{{.*}} SRC1=[[B]]
                                   ; next: vshr u{{.*}} SRC1=[[A]]
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: bytes_shl, bytes_shr_s, bytes_shr_u, counts_of_bytes

kernel @rounded_in_the_low_half(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                          ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 1
  %round_shr_s = round_shr_s.i8x16 %a, %k      ; check: vmul s rn int -0x3 lo {{.*}} s {{.*}} u 0x4
  store %round_shr_s, %out[%i]
  ret
}
; rule: rounded_low, bytes_round_shr_s_by

kernel @rounded_in_the_high_half(%a_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                            ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 3
  %round_shr_u = round_shr_u.i8x16 %a, %k        ; check: vmul u rn int 0x3 hi {{.*}} u {{.*}} u 0x4
  %k2 = const.i8x16 5
  %round_shr_u2 = round_shr_u.i8x16 %a, %k2      ; check: vmul u rn int 0x1 hi {{.*}} u {{.*}} u 0x4
  store %round_shr_u, %out1[%i]
  store %round_shr_u2, %out2[%i]
  ret
}
; rule: rounded_high, bytes_round_shr_u_by

kernel @rounded_by_any_count(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                          ; check: ldavh {{.*}} 0x10
  %round_shr_s = round_shr_s.i8x16 %a, %b      ; check: vand {{.*}} 0x7
                                               ; next: vshr s
                                               ; next: vshr u {{.*}} 0xf
                                               ; next: vshr u
                                               ; next: vand {{.*}} 0x1
                                               ; next: vadd s
  %round_shr_u = round_shr_u.i8x16 %a, %b      ; check: vand {{.*}} 0x7
                                               ; next: vshr u
                                               ; next: vshr u {{.*}} 0xf
                                               ; next: vshr u
                                               ; next: vand {{.*}} 0x1
                                               ; next: vadd u
  store %round_shr_s, %out1[%i]
  store %round_shr_u, %out2[%i]
  ret
}
; rule: bytes_round_shr_s, bytes_round_shr_u, last_bit_out

; A count of 9 is one of 1: counts are modulo the width.
kernel @rounded_by_many(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 9
  %r = round_shr_u.i8x16 %a, %k      ; check: vmul u rn int -0x3 lo {{.*}} u {{.*}} u 0x4
  store %r, %out[%i]
  ret
}
; rule: vp1::bytes_round_shr_u_by, rounded_low

kernel @bits(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16,
    %out4: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]          ; check: ldavh {{.*}} 0x10
  %and = and.i8x16 %a, %b      ; check: vand
  %or = or.i8x16 %a, %b        ; check: vor
  %xor = xor.i8x16 %a, %b      ; check: vxor
  %not = not.i8x16 %a          ; check: vxor {{.*}} 0xff
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  store %not, %out4[%i]
  ret
}
; rule: vector_and, vector_or, vector_xor, vector_not

kernel @bits_with_complements(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16,
    %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]           ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]           ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %n = not.i8x16 %b
  %and = and.i8x16 %a, %n       ; check: vand {{.*}} not{{.*}} SRC1=[[A]], SRC2=[[B]]
  %n2 = not.i8x16 %b
  %or = or.i8x16 %a, %n2        ; check: vor {{.*}} not{{.*}} SRC1=[[A]], SRC2=[[B]]
  %n3 = not.i8x16 %b
  %xor = xor.i8x16 %a, %n3      ; check: vnxor{{.*}} SRC1=[[A]], SRC2=[[B]]
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  ret
}
; rule: vector_and_not, vector_or_not, vector_xor_not

kernel @bits_with_complements_on_the_left(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]          ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %n = not.i8x16 %a
  %and = and.i8x16 %n, %b      ; check: vand {{.*}} not{{.*}} SRC1=[[A]], SRC2=[[B]]
  %n2 = not.i8x16 %a
  %or = or.i8x16 %n2, %b       ; check: vor {{.*}} not{{.*}} SRC1=[[A]], SRC2=[[B]]
  store %and, %out1[%i]
  store %or, %out2[%i]
  ret
}
; rule: vector_not_and, vector_not_or

kernel @complements_of_bits(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldavh {{.*}} 0x10
  %n = and.i8x16 %a, %b
  %not = not.i8x16 %n        ; check: vnand
  %n2 = or.i8x16 %a, %b
  %not2 = not.i8x16 %n2      ; check: vnor
  store %not, %out1[%i]
  store %not2, %out2[%i]
  ret
}
; rule: vector_nand, vector_nor

kernel @complement_used_twice(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldavh {{.*}} 0x10
  %n = not.i8x16 %b
  %q = and.i8x16 %a, %n      ; check: vand {{.*}} not
  %r = or.i8x16 %q, %n       ; check: vor {{.*}} not
  store %r, %out[%i]
  ret
}
; rule: vector_and_not, vector_or_not
; no rule: vector_not
