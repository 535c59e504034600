; test: isel ptx passes=pack
; An inverted predicate exchanges what is selected.
kernel @inverted(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = icmp.lt_s.i32 %a, %b       ; check: setp.lt.s32
  %n = not.i1 %x
  %r = select.i32 %n, %a, %b      ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: pred_not
; never: not.pred

kernel @every_lane(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.eq.i8x4 %a, %b         ; check: lop3.b32
  %c = all.i1x4 %m                 ; check: setp.eq.u32 {{.*}}, 4294967295
  %r = select.i8x4 %c, %a, %b      ; check: selp.b32
  store %r, %out[%i]
  ret
}
; rule: mask_all

kernel @lanes_of_masks(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %m = icmp.lt_u.i8x4 %a, %b       ; check: lop3.b32
  %c = extract.i1x4 %m, 2          ; check: and.b32 {{.*}}, 0xff0000
                                   ; next: setp.ne.u32 {{.*}}, 0
  %n = insert.i1x4 %m, %c, 0       ; check: selp.b32
                                   ; next: prmt.b32 {{.*}}, 0x3214
  %s = splat.i1x4 %c               ; check: selp.b32 {{.*}}, 0xffffffff, 0
  %x = select.i8x4 %n, %a, %b      ; check: lop3.b32 {{.*}}, 0xca
  %r = select.i8x4 %s, %x, %b      ; check: lop3.b32 {{.*}}, 0xca
  store %r, %out[%i]
  ret
}
; rule: extract_mask, insert_mask, splat_mask, select_by_mask

kernel @across_halves(%a_in: in bf16, %out: out f16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %r = fcvt.rm.f16 %a      ; check: {{mov.b32 .%h[0-9]+, _}}
                           ; next: cvt.f32.bf16
                           ; next: cvt.rm.f16.f32
  store %r, %out[%i]
  ret
}
; rule: across_halves

; A lane is taken out and extended at once.
kernel @extended_lanes(%a_in: in i8x4, %b_in: in i16x2, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = extract.i8x4 %a, 2
  %u = zext.i32 %x         ; check: bfe.u32 {{.*}}, 0x10, 8
  %y = extract.i16x2 %b, 0
  %s = sext.i32 %y         ; check: cvt.s32.s16
  %r = add.i32 %u, %s      ; check: add.u32
  store %r, %out[%i]
  ret
}
; rule: zext_lane, sext_lane
; no rule: extract_word, zext_word, sext_word

kernel @groups(%out1: out i32, %out2: out i32, %out3: out i32) {
^entry:
  %i = item_id
  %l = local_id        ; check: mov.u32 {{.*}}, %tid.x
  %g = group_id        ; check: mov.u32 {{.*}}, %ctaid.x
  %n = group_size      ; check: mov.u32 {{.*}}, %ntid.x
  store %l, %out1[%i]
  store %g, %out2[%i]
  store %n, %out3[%i]
  ret
}
; rule: where_in_group, where_group, where_group_size
