; test: isel vp1
; Selection and widths in the scalar unit.

; A condition that is no flag selects bits.
kernel @by_bits(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} 0x4
  %x = icmp.lt_s.i32 %a, %b            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %y = icmp.lt_u.i32 %a, %b            ; check: xor
                                       ; next: xor
                                       ; next: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %c = and.i1 %x, %y                   ; check: and
  %select = select.i32 %c, %a, %b      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: select_word_bits, select_by_word

kernel @truth(%x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %x = load %x_in[%i]
  %y = load %y_in[%i]            ; check: ldas {{.*}} 0x4
  %m = icmp.lt_s.i32 %x, %y      ; check: max
                                 ; next: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  %n = icmp.lt_u.i32 %x, %y      ; check: xor
                                 ; next: xor
                                 ; next: max
                                 ; next: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  %e = icmp.eq.i32 %x, %y        ; check: xor
                                 ; next: add {{.*}} (slct {{.*}} zf
  %c = select.i1 %m, %n, %e      ; check: xor
                                 ; next: and
                                 ; next: xor
  %mask_expand = mask_expand.i32 %c
  store %mask_expand, %out[%i]
  ret
}
; rule: select_truth

kernel @four(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.lt_s.i8x4 %a, %b             ; check: bsub s
                                         ; next: bshr s {{.*}} 0x7
  %select = select.i8x4 %m, %a, %b       ; check: bmin s
  %m2 = icmp.lt_s.i8x4 %a, %b
  %n = icmp.lt_u.i8x4 %a, %b             ; check: bsub u
                                         ; next: bmin u {{.*}} 0x1
                                         ; next: bneg s
  %e = icmp.eq.i8x4 %a, %b               ; check: xor
                                         ; next: bmin u {{.*}} 0x1
                                         ; next: bsub s {{.*}} 0x1
  %c = select.i1x4 %m2, %n, %e           ; check: xor
                                         ; next: and
                                         ; next: xor
  %select2 = select.i8x4 %c, %a, %b      ; check: xor
                                         ; next: and
                                         ; next: xor
  %m3 = icmp.lt_s.i8x4 %a, %b
  %mask_expand = mask_expand.i8x4 %m3
  store %select, %out1[%i]
  store %select2, %out2[%i]
  store %mask_expand, %out3[%i]
  ret
}
; rule: select_four, select_mask_of_four, mask_as_four

; test: isel vp1 passes=pack
; One instruction chooses by a flag.
kernel @by_flag(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                  ; check: ldas {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                  ; check: ldas {{.*}} DST=[[B:v[0-9]+]]
  %c = icmp.lt_s.i32 %a, %b
  %select = select.i32 %c, %b, %a      ; check: max{{.*}} SRC2=[[B]].r, SRC1=[[A]].r
                                       ; next: xor{{.*}} SRC2=[[A]].r
                                       ; next: add {{.*}} (slct {{.*}} zf{{.*}} SRC2=[[B]].r, SRC2=[[A]].r[1]
  store %select, %out[%i]
  ret
}
; rule: select_word_by_flag

kernel @wider(%a_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]       ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %zext = zext.i32 %x       ; check: and {{.*}} 0xff
  %x2 = trunc.i8 %a
  %sext = sext.i32 %x2      ; check: shr {{.*}} -0x18
                            ; next: sar {{.*}} 0x18
  store %zext, %out1[%i]
  store %sext, %out2[%i]
  ret
}
; rule: word_zext, word_sext, word_trunc
