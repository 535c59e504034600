; test: isel halu
; Truth values are in predicates.
kernel @joined(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b              ; check: ISETP.LT.S32.AND
  %y = icmp.lt_u.i32 %a, %b              ; check: ISETP.LT.U32.AND
  %c = or.i1 %x, %y                      ; check: PLOP3 {{.*}} 0xfc
  %select = select.i32 %c, %a, %b        ; check: SEL
  %x2 = icmp.lt_s.i32 %a, %b
  %y2 = icmp.lt_u.i32 %a, %b
  %c2 = xor.i1 %x2, %y2                  ; check: PLOP3 {{.*}} 0x3c
  %select2 = select.i32 %c2, %a, %b      ; check: SEL
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: truth_or, truth_xor

; Joined by and, a comparison of words takes the other in.
kernel @joined_comparisons(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b
  %y = icmp.lt_u.i32 %a, %b            ; check: ISETP.LT.U32.AND
  %c = and.i1 %x, %y                   ; check: ISETP.LT.S32.AND
  %select = select.i32 %c, %a, %b      ; check: SEL
  store %select, %out[%i]
  ret
}
; rule: truth_and_icmp

; By or it does not.
kernel @joined_by_or(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b       ; check: ISETP.LT.S32.AND
  %y = icmp.lt_u.i32 %a, %b       ; check: ISETP.LT.U32.AND
  %c = or.i1 %x, %y               ; check: PLOP3 {{.*}} 0xfc
  %r = select.i32 %c, %a, %b      ; check: SEL
  store %r, %out[%i]
  ret
}
; rule: truth_or
; no rule: truth_and_icmp

; Comparisons of halves are joined afterwards.
kernel @joined_halves(%a_in: in f16, %b_in: in f16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcmp.lt.f16 %a, %b         ; check: HSETP2.LT.AND
  %y = fcmp.gt.f16 %b, %a         ; check: HSETP2.GT.AND
  %c = and.i1 %x, %y              ; check: PLOP3 {{.*}} 0xc0
  %r = select.f16 %c, %a, %b      ; check: SEL
  store %r, %out[%i]
  ret
}
; rule: truth_and
; no rule: truth_and_icmp

kernel @chosen(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b            ; check: ISETP.LT.S32.AND
  %y = icmp.lt_u.i32 %a, %b            ; check: ISETP.LT.U32.AND
  %z = icmp.eq.i32 %a, %b              ; check: ISETP.EQ.U32.AND
  %c = select.i1 %x, %y, %z            ; check: PLOP3 {{.*}} 0xca
  %select = select.i32 %c, %a, %b      ; check: SEL
  store %select, %out[%i]
  ret
}
; rule: truth_select

; test: isel halu passes=pack
kernel @negated(%a_in: in i8x4, %b_in: in i8x4, %x_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b      ; check: vsub4.s32.s32.s32.sat
                                  ; next: PRMT {{.*}} 0xba98
  %p = any.i1x4 %m                ; check: ISETP.NE.U32.AND
  %n = not.i1 %p                  ; check: PLOP3 {{.*}} 0xf0
  br ^a(%n)
^a(%q: i1):
  %k = const.i32 0
  %s = select.i32 %q, %x, %k      ; check: SEL
  %r = add.i32 %s, %x             ; check: IADD3
  store %r, %out[%i]
  ret
}
; rule: truth_not

; A truth value that is known, used as it is and passed to a block.
kernel @known(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = const.i1 0
  %select = select.i32 %c, %a, %b       ; check: SEL
  %c2 = const.i1 0
  br ^b(%c2)
^b(%p: i1):
  %select2 = select.i32 %p, %a, %b      ; check: SEL
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: pred_const, const_truth_value
