; test: isel vp1
; Comparison of words: flags say whether a result is 0 and what its sign is; nothing says that a difference overflowed.

; The exclusive or is 0.
kernel @equal(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} 0x4
  %c = icmp.eq.i32 %a, %b
  %select = select.i32 %c, %a, %b        ; check: xor
                                         ; next: add {{.*}} (slct {{.*}} zf
  %c2 = icmp.ne.i32 %a, %b
  %select2 = select.i32 %c2, %a, %b      ; check: xor
                                         ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_words_eq, compare_words_ne

; A sign is there to be asked for.
kernel @with_zero(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} 0x4
  %k = const.i32 0
  %c = icmp.lt_s.i32 %a, %k
  %select = select.i32 %c, %a, %b        ; check: add
                                         ; next: add {{.*}} (slct {{.*}} sf
  %k2 = const.i32 0
  %c2 = icmp.ge_s.i32 %a, %k2
  %select2 = select.i32 %c2, %a, %b      ; check: add
                                         ; next: add {{.*}} (slct {{.*}} sf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_words_negative, compare_words_not_negative

; With the highest bits changed, unsigned numbers are in the order of signed ones.
kernel @unsigned(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} 0x4
  %c = icmp.lt_u.i32 %a, %b
  %select = select.i32 %c, %a, %b      ; check: xor
                                       ; next: xor
                                       ; next: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %c2 = icmp.le_u.i32 %a, %b
  %select2 = select.i32 %c2, %a, %b
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_order, unsigned_flipped

; Where a difference cannot overflow, its sign says it.
kernel @with_room(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                  ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %x = trunc.i16 %a
  %y = sext.i32 %x                     ; check: mul {{.*}} 0x1{{.*}} SRC1=[[A]].r
  %z = trunc.i8 %b
  %w = zext.i32 %z                     ; check: and {{.*}} 0xff{{.*}} SRC1=[[B]].r
  %k = const.i32 31
  %u = shr_u.i32 %b, %k                ; check: shr {{.*}} 0x1f{{.*}} SRC1=[[B]].r
  %v = shr_u.i32 %a, %k                ; check: shr {{.*}} 0x1f{{.*}} SRC1=[[A]].r
  %p = add.i32 %u, %y                  ; check: add
  %c = icmp.lt_s.i32 %w, %v
  %select = select.i32 %c, %p, %w      ; check: sub
                                       ; next: add {{.*}} (slct {{.*}} sf
  store %select, %out[%i]
  ret
}
; rule: compare_words_by_difference

; Words have no room: their difference may overflow.
kernel @without_room(%a_in: in i32, %b_in: in i32, %d_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %d = load %d_in[%i]             ; check: ldas {{.*}} 0x4
  %c = icmp.lt_s.i32 %a, %b
  %r = select.i32 %c, %a, %d      ; check: max
                                  ; next: xor
                                  ; next: add {{.*}} (slct {{.*}} zf
  store %r, %out[%i]
  ret
}
; rule: compare_signed_lt
; no rule: compare_words_by_difference

; Narrow scalars have room.
kernel @narrow(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %c = icmp.lt_u.i16 %x, %y
  %select = select.i32 %c, %a, %b        ; check: and{{.*}} SRC1=[[A]].r
                                         ; next: and{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: add {{.*}} (slct {{.*}} sf{{.*}} SRC2=[[B]].r, SRC2=[[A]].r[1]
  %x2 = trunc.i16 %a
  %y2 = trunc.i16 %b
  %c2 = icmp.ge_s.i16 %x2, %y2
  %select2 = select.i32 %c2, %a, %b      ; check: mul {{.*}} 0x1{{.*}} SRC1=[[A]].r
                                         ; next: mul {{.*}} 0x1{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: add {{.*}} (slct {{.*}} sf{{.*}} SRC2=[[A]].r, SRC2=[[B]].r[1]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_difference_lt, compare_difference_ge

kernel @narrow_other(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %c = icmp.gt_u.i16 %x, %y
  %select = select.i32 %c, %a, %b        ; check: and{{.*}} SRC1=[[A]].r
                                         ; next: and{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: add {{.*}} (slct {{.*}} sf{{.*}} SRC2=[[B]].r, SRC2=[[A]].r[1]
  %x2 = trunc.i16 %a
  %y2 = trunc.i16 %b
  %c2 = icmp.le_s.i16 %x2, %y2
  %select2 = select.i32 %c2, %a, %b      ; check: mul {{.*}} 0x1{{.*}} SRC1=[[A]].r
                                         ; next: mul {{.*}} 0x1{{.*}} SRC1=[[B]].r
                                         ; next: sub
                                         ; next: add {{.*}} (slct {{.*}} sf{{.*}} SRC2=[[A]].r, SRC2=[[B]].r[1]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_difference_gt, compare_difference_le

kernel @narrow_extended(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %y = trunc.i8 %b
  %c = icmp.lt_s.i8 %x, %y
  %select = select.i32 %c, %a, %b      ; check: shr {{.*}} -0x18
                                       ; next: sar {{.*}} 0x18
                                       ; next: shr {{.*}} -0x18
                                       ; next: sar {{.*}} 0x18
                                       ; next: sub
                                       ; next: add {{.*}} (slct {{.*}} sf
  store %select, %out[%i]
  ret
}
; rule: compare_extended

; What is above the bits is shifted out.
kernel @narrow_equal(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %c = icmp.eq.i16 %x, %y
  %select = select.i32 %c, %a, %b        ; check: xor
                                         ; next: shr {{.*}} -0x10
                                         ; next: add {{.*}} (slct {{.*}} zf
  %x2 = trunc.i8 %a
  %y2 = trunc.i8 %b
  %c2 = icmp.ne.i8 %x2, %y2
  %select2 = select.i32 %c2, %a, %b      ; check: xor
                                         ; next: shr {{.*}} -0x18
                                         ; next: add {{.*}} (slct {{.*}} zf
  %x3 = trunc.i8 %a
  %y3 = trunc.i8 %b
  %c3 = icmp.eq.i8 %x3, %y3
  %select3 = select.i32 %c3, %a, %b      ; check: xor
                                         ; next: shr {{.*}} -0x18
                                         ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %select3, %out3[%i]
  ret
}
; rule: compare_narrow_eq, compare_narrow_ne, low_bits_alone

; A truth value in a register is all ones or none.
kernel @as_numbers(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %c = icmp.eq.i32 %a, %b         ; check: xor
                                  ; next: add {{.*}} (slct {{.*}} zf
  %mask_expand = mask_expand.i32 %c
  %x = trunc.i8 %a
  %y = trunc.i8 %b
  %c2 = icmp.ge_u.i8 %x, %y       ; check: and {{.*}} 0xff
                                  ; next: and {{.*}} 0xff
                                  ; next: sub
                                  ; next: add {{.*}} (slct {{.*}} sf
  %mask_expand2 = mask_expand.i32 %c2
  %c3 = icmp.lt_s.i32 %a, %b      ; check: max
                                  ; next: xor
                                  ; next: add {{.*}} (slct {{.*}} zf
  %mask_expand3 = mask_expand.i32 %c3
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  store %mask_expand3, %out3[%i]
  ret
}
; rule: word_icmp, narrow_icmp, truth_as_number

; The sign, spread over the word.
kernel @sign(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]            ; check: ldas {{.*}} 0x4
  %k = const.i32 0
  %c = icmp.lt_s.i32 %a, %k      ; check: sar {{.*}} 0x1f
  %mask_expand = mask_expand.i32 %c
  store %mask_expand, %out[%i]
  ret
}
; rule: sign_of_word

; Of a comparison with another number the sign says nothing.
kernel @not_the_sign(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]            ; check: ldas {{.*}} 0x4
  %k = const.i32 1
  %c = icmp.lt_s.i32 %a, %k      ; check: max {{.*}} 0x1
                                 ; next: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  %r = mask_expand.i32 %c
  store %r, %out[%i]
  ret
}
; rule: word_icmp
; no rule: sign_of_word, compare_words_negative

; A condition is asked for where it is used.
kernel @flags(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} 0x4
  %c = icmp.ne.i32 %a, %b
  %select = select.i32 %c, %a, %b        ; check: xor
                                         ; next: add {{.*}} (slct {{.*}} zf
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %c2 = icmp.eq.i16 %x, %y
  %select2 = select.i32 %c2, %a, %b      ; check: xor
                                         ; next: shr {{.*}} -0x10
                                         ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: flag_words, flag_narrow

; A condition from elsewhere is the sign of its register.
kernel @flag_of_a_register(%a_in: in i32, %n: i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %z = const.i32 0
  %o = const.i32 1
  %k = const.i32 7
  %u = and.i32 %n, %k            ; check: and {{.*}} 0x7
  %c = icmp.ne.i32 %u, %z        ; check: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  br ^l(%z, %c)
^l(%i2: i32, %p: i1):
  br_if %p, ^m, ^e
^m:
  %j = add.i32 %i2, %o           ; check: add {{.*}} 0x1
  %q = icmp.lt_u.i32 %j, %u      ; check: xor
                                 ; next: xor
                                 ; next: max
                                 ; next: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  br ^l(%j, %q)
^e:
  %add = add.i32 %i2, %a         ; check: add
  store %add, %out[%i]
  ret
}
; rule: flag_plain

kernel @flags_over_vectors(%a_in: in i8x16, %b_in: in i8x16, %x_in: in i32, %y_in: in i32, %out1: out i32,
    %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                    ; check: ldas {{.*}} 0x4
  %m = icmp.lt_s.i8x16 %a, %b
  %c = any.i1x16 %m
  %select = select.i32 %c, %x, %y        ; check: vsub s
                                         ; next: mov $v0 $vc
                                         ; next: mov 0x0 $v0
                                         ; next: and
                                         ; next: add {{.*}} (slct {{.*}} zf
  %m2 = icmp.ne.i8x16 %a, %b
  %c2 = all.i1x16 %m2
  %select2 = select.i32 %c2, %x, %y      ; check: vxor
                                         ; next: mov $v0 $vc
                                         ; next: mov 0x0 $v0
                                         ; next: and
                                         ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: flag_any, flag_all

kernel @flags_over_four(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.lt_s.i8x4 %a, %b              ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
  %c = any.i1x4 %m
  %select = select.i8x4 %c, %a, %b        ; check: add
                                          ; next: add {{.*}} (slct {{.*}} zf
  %m2 = icmp.le_s.i8x4 %a, %b             ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
                                          ; next: xor {{.*}} -0x1
  %c2 = all.i1x4 %m2
  %select2 = select.i8x4 %c2, %a, %b      ; check: add {{.*}} 0x1
                                          ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: flag_any_of_four, flag_all_of_four

; test: isel vp1 passes=pack
; The first is less where it is not the greater.
kernel @less(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %c = icmp.lt_s.i32 %a, %b
  %select = select.i32 %c, %a, %b        ; check: max{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: xor{{.*}} SRC2=[[A]].r
                                         ; next: add {{.*}} (slct {{.*}} zf{{.*}} SRC2=[[A]].r, SRC2=[[B]].r[1]
  %c2 = icmp.ge_s.i32 %a, %b
  %select2 = select.i32 %c2, %a, %b      ; check: max{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: xor{{.*}} SRC2=[[A]].r
                                         ; next: add {{.*}} (slct {{.*}} zf{{.*}} SRC2=[[B]].r, SRC2=[[A]].r[1]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_signed_lt, compare_signed_ge

kernel @greater(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %c = icmp.gt_s.i32 %a, %b
  %select = select.i32 %c, %a, %b        ; check: min{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: xor{{.*}} SRC2=[[A]].r
                                         ; next: add {{.*}} (slct {{.*}} zf{{.*}} SRC2=[[A]].r, SRC2=[[B]].r[1]
  %c2 = icmp.le_s.i32 %a, %b
  %select2 = select.i32 %c2, %a, %b      ; check: min{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                         ; next: xor{{.*}} SRC2=[[A]].r
                                         ; next: add {{.*}} (slct {{.*}} zf{{.*}} SRC2=[[B]].r, SRC2=[[A]].r[1]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_signed_gt, compare_signed_le

; Signed numbers are compared as they are.
kernel @signed(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} 0x4
  %c = icmp.le_s.i32 %a, %b
  %select = select.i32 %c, %a, %b      ; check: min
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out[%i]
  ret
}
; rule: signed_as_it_is

kernel @flags_negated(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} 0x4
  %c = icmp.lt_s.i32 %a, %b
  %n = not.i1 %c
  %select = select.i32 %n, %a, %b      ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out[%i]
  ret
}
; rule: flag_not

kernel @flags_known(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]      ; check: ldas {{.*}} 0x4
  %c = const.i1 0
  %select = select.i32 %c, %a, %b
  store %select, %out[%i]
  ret
}
; rule: flag_const
