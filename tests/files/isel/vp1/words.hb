; test: isel vp1
; Scalars are words of the scalar unit.
kernel @sums(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]        ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %add = add.i32 %a, %b      ; check: add{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
  %sub = sub.i32 %a, %b      ; check: sub{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
  %neg = neg.i32 %a          ; check: neg{{.*}} SRC1=[[A]].r
  %abs = abs.i32 %a          ; check: abs{{.*}} SRC1=[[A]].r
  store %add, %out1[%i]
  store %sub, %out2[%i]
  store %neg, %out3[%i]
  store %abs, %out4[%i]
  ret
}
; rule: word_add, word_sub, word_neg, word_abs

; Eleven bits are an operand; of more, a register is loaded.
kernel @constants(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldas {{.*}} 0x4
  %k = const.i32 1000
  %x = add.i32 %a, %k      ; check: add {{.*}} 0x3e8
  %l = const.i32 70000
  %r = xor.i32 %x, %l      ; check: xor
  store %r, %out[%i]
  ret
}
; rule: word_add, word_xor

; A narrow scalar is extended before its sign counts.
kernel @narrow_absolute(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %y = abs.i8 %x           ; check: shr {{.*}} -0x18
                           ; next: sar {{.*}} 0x18
                           ; next: abs
  %sext = sext.i32 %y      ; check: shr {{.*}} -0x18
                           ; next: sar {{.*}} 0x18
  store %sext, %out[%i]
  ret
}
; rule: word_abs

; The multiplier takes 16 bits: a product of words is three, and two halves are brought down with rounding.
kernel @product(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %mul = mul.i32 %a, %b      ; check: add
                             ; next: sar {{.*}} 0x10
                             ; next: mul
                             ; next: add
                             ; next: sar {{.*}} 0x10
                             ; next: mul
                             ; next: add
                             ; next: mul
                             ; next: shr {{.*}} -0x10
                             ; next: add
  store %mul, %out[%i]
  ret
}
; rule: word_mul, part_above

; Where one operand has 16 bits, two products do.
kernel @product_by_16_bits(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: ldas {{.*}} 0x4
  %k = const.i32 3
  %mul = mul.i32 %a, %k      ; check: mul {{.*}} 0x3
                             ; next: add
                             ; next: sar {{.*}} 0x10
                             ; next: mul {{.*}} 0x3
                             ; next: shr {{.*}} -0x10
                             ; next: add
  store %mul, %out[%i]
  ret
}
; rule: word_mul_by_16

; 17 bits are more than the multiplier takes.
kernel @product_by_more(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldas {{.*}} 0x4
  %k = const.i32 40000
  %r = mul.i32 %a, %k      ; check: add
                           ; next: sar {{.*}} 0x10
                           ; next: mul
                           ; next: add
                           ; next: sar {{.*}} 0x10
                           ; next: mul
                           ; next: add
                           ; next: mul
                           ; next: shr {{.*}} -0x10
                           ; next: add
  store %r, %out[%i]
  ret
}
; rule: word_mul
; no rule: word_mul_by_16

kernel @products_of_16_bits(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = sext.i32 %x           ; check: mul {{.*}} 0x1
  %z = trunc.i8 %b
  %u = zext.i32 %z           ; check: and {{.*}} 0xff
  %mul = mul.i32 %y, %u      ; check: mul
  %x2 = trunc.i8 %a
  %y2 = trunc.i8 %b
  %z2 = mul.i8 %x2, %y2      ; check: mul
  %zext = zext.i32 %z2       ; check: and {{.*}} 0xff
  store %mul, %out1[%i]
  store %zext, %out2[%i]
  ret
}
; rule: word_mul_16, narrow_mul

kernel @products_of_narrow_scalars(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                      ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %mul_wide_s = mul_wide_s.i16 %x, %y      ; check: mul
  %x2 = trunc.i8 %a
  %y2 = trunc.i8 %b
  %z = mul_wide_s.i8 %x2, %y2              ; check: shr {{.*}} -0x18
                                           ; next: sar {{.*}} 0x18
                                           ; next: shr {{.*}} -0x18
                                           ; next: sar {{.*}} 0x18
                                           ; next: mul
  %sext = sext.i32 %z                      ; check: mul {{.*}} 0x1
  %x3 = trunc.i8 %a
  %y3 = trunc.i8 %b
  %z2 = mul_wide_u.i8 %x3, %y3             ; check: and {{.*}} 0xff
                                           ; next: and {{.*}} 0xff
                                           ; next: mul
  %zext = zext.i32 %z2                     ; check: and
  store %mul_wide_s, %out1[%i]
  store %sext, %out2[%i]
  store %zext, %out3[%i]
  ret
}
; rule: half_mul_wide_s, byte_mul_wide_s, byte_mul_wide_u

; The multiplier is signed: unsigned halfwords are not multiplied by it alone.
kernel @product_of_unsigned_halves(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = zext.i32 %x         ; check: and
  %z = trunc.i16 %b
  %u = zext.i32 %z         ; check: and
  %r = mul.i32 %y, %u      ; check: add
                           ; next: sar {{.*}} 0x10
                           ; next: mul
                           ; next: add
                           ; next: sar {{.*}} 0x10
                           ; next: mul
                           ; next: add
                           ; next: mul
                           ; next: shr {{.*}} -0x10
                           ; next: add
  store %r, %out[%i]
  ret
}
; rule: word_mul
; no rule: word_mul_16

kernel @extremes(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]            ; check: ldas {{.*}} 0x4
  %min_s = min_s.i32 %a, %b      ; check: min
  %max_s = max_s.i32 %a, %b      ; check: max
  store %min_s, %out1[%i]
  store %max_s, %out2[%i]
  ret
}
; rule: word_min_s, word_max_s

kernel @narrow_extremes(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]           ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %z = min_s.i16 %x, %y         ; check: mul {{.*}} 0x1
                                ; next: mul {{.*}} 0x1
                                ; next: min
  %sext = sext.i32 %z           ; check: mul {{.*}} 0x1
  %x2 = trunc.i16 %a
  %y2 = trunc.i16 %b
  %z2 = max_s.i16 %x2, %y2      ; check: mul {{.*}} 0x1
                                ; next: mul {{.*}} 0x1
                                ; next: max
  %sext2 = sext.i32 %z2         ; check: mul {{.*}} 0x1
  store %sext, %out1[%i]
  store %sext2, %out2[%i]
  ret
}
; rule: half_min_s, half_max_s

kernel @narrow_extremes_u(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]           ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %z = min_u.i16 %x, %y         ; check: and
                                ; next: and
                                ; next: min
  %zext = zext.i32 %z           ; check: and
  %x2 = trunc.i16 %a
  %y2 = trunc.i16 %b
  %z2 = max_u.i16 %x2, %y2      ; check: and
                                ; next: and
                                ; next: max
  %zext2 = zext.i32 %z2         ; check: and
  store %zext, %out1[%i]
  store %zext2, %out2[%i]
  ret
}
; rule: half_min_u, half_max_u

kernel @distances(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %absdiff_s = absdiff_s.i32 %a, %b      ; check: max{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: min{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: sub
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %z = absdiff_s.i16 %x, %y              ; check: mul {{.*}} 0x1{{.*}} SRC1=[[A]].r
                                         ; next: mul {{.*}} 0x1{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: abs
  %zext = zext.i32 %z                    ; check: and
  %x2 = trunc.i16 %a
  %y2 = trunc.i16 %b
  %z2 = absdiff_u.i16 %x2, %y2           ; check: and{{.*}} SRC1=[[A]].r
                                         ; next: and{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: abs
  %zext2 = zext.i32 %z2                  ; check: and
  store %absdiff_s, %out1[%i]
  store %zext, %out2[%i]
  store %zext2, %out3[%i]
  ret
}
; rule: word_absdiff_s, half_absdiff_s, half_absdiff_u

; One shift goes both ways: to the left by a negative count.
kernel @shifts_by_a_constant(%a_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]             ; check: ldas {{.*}} 0x4
  %k = const.i32 13
  %shl = shl.i32 %a, %k           ; check: shr {{.*}} -0xd
  %k2 = const.i32 13
  %shr_s = shr_s.i32 %a, %k2      ; check: sar {{.*}} 0xd
  %k3 = const.i32 31
  %shr_u = shr_u.i32 %a, %k3      ; check: shr {{.*}} 0x1f
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: word_shl_by, word_shr_s_by, word_shr_u_by

; Counts are masked, and negated to the left.
kernel @shifts(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]            ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]            ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %shl = shl.i32 %a, %b          ; check: and {{.*}} 0x1f{{.*}} SRC1=[[B]].r
                                 ; next: neg
                                 ; next: shr{{.*}} SRC1=[[A]].r
  %shr_s = shr_s.i32 %a, %b      ; check: and {{.*}} 0x1f{{.*}} SRC1=[[B]].r
                                 ; next: sar{{.*}} SRC1=[[A]].r
  %shr_u = shr_u.i32 %a, %b      ; check: and {{.*}} 0x1f{{.*}} SRC1=[[B]].r
                                 ; next: shr{{.*}} SRC1=[[A]].r
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: word_shl, word_shr_s, word_shr_u, counts_masked

kernel @bits(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32, %out4: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %and = and.i32 %a, %b      ; check: and
  %or = or.i32 %a, %b        ; check: or
  %xor = xor.i32 %a, %b      ; check: xor
  %not = not.i32 %a          ; check: xor {{.*}} -0x1
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  store %not, %out4[%i]
  ret
}
; rule: word_and, word_or, word_xor, word_not

; The table of the bit operation takes complements in.
kernel @bits_with_complements(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]         ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]         ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %n = not.i32 %b
  %and = and.i32 %a, %n       ; check: and {{.*}} not{{.*}} SRC1=[[A]].r, SRC2=[[B]].r
  %n2 = not.i32 %b
  %or = or.i32 %a, %n2        ; check: or {{.*}} not{{.*}} SRC1=[[A]].r, SRC2=[[B]].r
  %n3 = not.i32 %b
  %xor = xor.i32 %a, %n3      ; check: nxor{{.*}} SRC1=[[A]].r, SRC2=[[B]].r
  store %and, %out1[%i]
  store %or, %out2[%i]
  store %xor, %out3[%i]
  ret
}
; rule: word_and_not, word_or_not, word_xor_not

kernel @bits_with_complements_on_the_left(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]        ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]        ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %n = not.i32 %a
  %and = and.i32 %n, %b      ; check: and {{.*}} not{{.*}} SRC1=[[A]].r, SRC2=[[B]].r
  %n2 = not.i32 %a
  %or = or.i32 %n2, %b       ; check: or {{.*}} not{{.*}} SRC1=[[A]].r, SRC2=[[B]].r
  store %and, %out1[%i]
  store %or, %out2[%i]
  ret
}
; rule: word_not_and, word_not_or

kernel @complements_of_bits(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ldas {{.*}} 0x4
  %n = and.i32 %a, %b
  %not = not.i32 %n        ; check: nand
  %n2 = or.i32 %a, %b
  %not2 = not.i32 %n2      ; check: nor
  store %not, %out1[%i]
  store %not2, %out2[%i]
  ret
}
; rule: word_nand, word_nor

; A complement with two uses is in both, and none of its own.
kernel @complement_used_twice(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ldas {{.*}} 0x4
  %n = not.i32 %b
  %q = and.i32 %a, %n      ; check: and {{.*}} not
  %r = or.i32 %q, %n       ; check: or {{.*}} not
  store %r, %out[%i]
  ret
}
; rule: word_and_not, word_or_not
; no rule: word_not

; One that is kept is computed as well.
kernel @complement_that_is_kept(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ldas {{.*}} 0x4
  %n = not.i32 %b          ; check: xor {{.*}} -0x1
  %q = and.i32 %a, %n      ; check: and {{.*}} not
  %r = add.i32 %q, %n      ; check: add
  store %r, %out[%i]
  ret
}
; rule: word_and_not, word_not
