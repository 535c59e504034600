; test: isel ptx
; Lanes are compared by the difference of the words, every lane of it odd.
kernel @lt_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0xb2
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_lt_s, lanes_ordered, mask_as_lanes

kernel @lt_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.lt_u.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x8e
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_lt_u, lanes_ordered, mask_as_lanes

kernel @gt_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.gt_s.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0xb2
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_gt_s, lanes_ordered, mask_as_lanes

kernel @gt_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.gt_u.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x8e
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_gt_u, lanes_ordered, mask_as_lanes

kernel @ge_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.ge_s.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x4d
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_ge_s, lanes_ordered, mask_as_lanes

kernel @ge_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.ge_u.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x71
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_ge_u, lanes_ordered, mask_as_lanes

kernel @le_s(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.le_s.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x4d
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_le_s, lanes_ordered, mask_as_lanes

kernel @le_u(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.le_u.i8x4 %a, %b      ; check: lop3.b32 {{.*}} 0x1010101, 0x82
                                  ; next: sub.u32
                                  ; next: add.u32
                                  ; next: lop3.b32 {{.*}} 0x71
                                  ; next: prmt.b32 {{.*}} 0xba98
  %r = mask_expand.i8x4 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_le_u, lanes_ordered, mask_as_lanes

kernel @ne(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.ne.i16x2 %a, %b      ; check: lop3.b32 {{.*}} 0x7fff7fff, 0x28
                                 ; next: add.u32 {{.*}} 2147450879
                                 ; next: lop3.b32 {{.*}} 0xbe
                                 ; next: prmt.b32 {{.*}} 0xbb99
  %r = mask_expand.i16x2 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_ne, lanes_joined

kernel @eq(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.eq.i16x2 %a, %b      ; check: lop3.b32 {{.*}} 0x7fff7fff, 0x28
                                 ; next: add.u32 {{.*}} 2147450879
                                 ; next: lop3.b32 {{.*}} 0x41
                                 ; next: prmt.b32 {{.*}} 0xbb99
  %r = mask_expand.i16x2 %m
  store %r, %out[%i]
  ret
}
; rule: lanes_eq, lanes_joined

; Scalars are compared as words.
kernel @scalars(%a_in: in i8, %b_in: in i8, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = icmp.lt_s.i8 %a, %b      ; check: cvt.s32.s8
                                ; next: cvt.s32.s8
                                ; next: setp.lt.s32
  %r = mask_expand.i8 %c        ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: narrow_icmp, truth_as_word
; no rule: lanes_lt_s
