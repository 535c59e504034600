; test: isel ptx
; Truth values are in predicates.
kernel @joined(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b              ; check: setp.lt.s32
  %y = icmp.lt_u.i32 %a, %b              ; check: setp.lt.u32
  %c = or.i1 %x, %y                      ; check: not.pred
                                         ; next: not.pred
                                         ; next: and.pred
                                         ; next: not.pred
  %select = select.i32 %c, %a, %b        ; check: selp.b32
  %x2 = icmp.lt_s.i32 %a, %b
  %y2 = icmp.lt_u.i32 %a, %b
  %c2 = xor.i1 %x2, %y2                  ; check: xor.pred
  %select2 = select.i32 %c2, %a, %b      ; check: selp.b32
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: truth_or, truth_xor

; Comparisons of halves are joined afterwards.
kernel @joined_halves(%a_in: in f16, %b_in: in f16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = fcmp.lt.f16 %a, %b         ; check: setp.lt.f16x2
  %y = fcmp.gt.f16 %b, %a         ; check: setp.gt.f16x2
  %c = and.i1 %x, %y              ; check: and.pred
  %r = select.f16 %c, %a, %b      ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: truth_and

kernel @chosen(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b            ; check: setp.lt.s32
  %y = icmp.lt_u.i32 %a, %b            ; check: setp.lt.u32
  %z = icmp.eq.i32 %a, %b              ; check: setp.eq.u32
  %c = select.i1 %x, %y, %z            ; check: and.pred
                                       ; next: not.pred
                                       ; next: and.pred
                                       ; next: not.pred
                                       ; next: not.pred
                                       ; next: and.pred
  %select = select.i32 %c, %a, %b      ; check: selp.b32
  store %select, %out[%i]
  ret
}
; rule: truth_select

; test: isel ptx passes=pack
kernel @negated(%a_in: in i8x4, %b_in: in i8x4, %x_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b      ; check: lop3.b32 {{.*}}, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}}, 0xb2
                                  ; next: prmt.b32 {{.*}}, 0xba98
  %p = any.i1x4 %m                ; check: setp.ne.u32
  %n = not.i1 %p                  ; check: not.pred
  br ^a(%n)
^a(%q: i1):
  %k = const.i32 0
  %s = select.i32 %q, %x, %k      ; check: selp.b32
  %r = add.i32 %s, %x             ; check: add.u32
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
  %select = select.i32 %c, %a, %b
  %c2 = const.i1 0                      ; check: mov.pred
  br ^b(%c2)
^b(%p: i1):
  %select2 = select.i32 %p, %a, %b      ; check: selp.b32
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: pred_const, const_truth_value
