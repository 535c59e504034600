; test: isel vp1
; What bytes differ by, compared with a third.
kernel @less(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %c = load %c_in[%i]                      ; check: ldavh {{.*}} DST=[[C:v[0-9]+]]
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %d, %c
  %select = select.i8x16 %m, %a, %b        ; check: vcmpad 0xc{{.*}} SRC1=[[A]], SRC1=[[C]][1], SRC2=[[B]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  %d2 = absdiff_u.i8x16 %a, %b
  %m2 = icmp.lt_u.i8x16 %d2, %c
  %select2 = select.i8x16 %m2, %a, %c      ; check: vcmpad 0xc{{.*}} SRC1=[[A]], SRC1=[[C]][1], SRC2=[[B]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[C]][1], 1:SRC2=[[A]]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: difference_less, select_by_difference

kernel @not_less(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                    ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.ge_u.i8x16 %d, %c
  %select = select.i8x16 %m, %a, %b      ; check: vcmpad 0x3
                                         ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %select, %out[%i]
  ret
}
; rule: difference_not_less

kernel @equal(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                    ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.eq.i8x16 %d, %c
  %select = select.i8x16 %m, %a, %b      ; check: vcmpad 0xc
                                         ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %select, %out[%i]
  ret
}
; rule: difference_equal

kernel @not_equal(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                    ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.ne.i8x16 %d, %c
  %select = select.i8x16 %m, %a, %b      ; check: vcmpad 0xc
                                         ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %select, %out[%i]
  ret
}
; rule: difference_not_equal

; Only distances of unsigned bytes are compared so.
kernel @signed(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]               ; check: ldavh {{.*}} 0x10
  %d = absdiff_s.i8x16 %a, %b       ; check: vmax s
                                    ; next: vmin s
                                    ; next: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u 0x4
                                    ; next: vmac s rd int -0x2 lo {{.*}} u {{.*}} s 0xfc
  %m = icmp.lt_u.i8x16 %d, %c
  %r = select.i8x16 %m, %a, %b      ; check: vsub u
                                    ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %r, %out[%i]
  ret
}
; rule: bytes_absdiff_s, select_by_comparison
; no rule: select_by_difference
; never: vcmpad

; A signed order of distances is another question.
kernel @signed_order(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]               ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b       ; check: vsub u
                                    ; next: vsub u
                                    ; next: vor
  %m = icmp.lt_s.i8x16 %d, %c
  %r = select.i8x16 %m, %a, %b      ; check: vsub s
                                    ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %r, %out[%i]
  ret
}
; rule: bytes_absdiff_u, select_by_comparison
; no rule: select_by_difference
; never: vcmpad

kernel @as_bytes(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]              ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %d, %c      ; check: vcmpad 0xc
                                   ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %mask_expand = mask_expand.i8x16 %m
  store %mask_expand, %out[%i]
  ret
}
; rule: mask_of_difference

kernel @some(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                  ; check: ldas {{.*}} 0x4
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %d, %c
  %t = any.i1x16 %m
  %select = select.i32 %t, %x, %y      ; check: vcmpad 0xc
                                       ; next: mov $v0 $vc
                                       ; next: mov 0x0 $v0
                                       ; next: and
                                       ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out[%i]
  ret
}
; rule: vflag_difference

; A comparison is joined with one before.
kernel @joined(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                    ; check: ldavh {{.*}} 0x10
  %m = icmp.lt_s.i8x16 %a, %c
  %d = absdiff_u.i8x16 %a, %b
  %n = icmp.lt_u.i8x16 %d, %c
  %j = and.i1x16 %m, %n
  %select = select.i8x16 %j, %a, %b      ; check: vsub s
                                         ; next: vec {{.*}} sf {{.*}} & vcmpad 0x8
                                         ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %select, %out[%i]
  ret
}
; rule: select_by_joined

; A joined mask that is used again is a vector.
kernel @joined_used_twice(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]               ; check: ldavh {{.*}} 0x10
  %m = icmp.lt_s.i8x16 %a, %c
  %d = absdiff_u.i8x16 %a, %b
  %n = icmp.lt_u.i8x16 %d, %c
  %j = and.i1x16 %m, %n             ; check: vsub s
                                    ; next: vec {{.*}} sf {{.*}} & vcmpad 0x8
                                    ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %s = select.i8x16 %j, %a, %b      ; check: vxor
                                    ; next: vand
                                    ; next: vxor
  %t = select.i8x16 %j, %c, %a      ; check: vxor
                                    ; next: vand
                                    ; next: vxor
  %r = add_sat_u.i8x16 %s, %t       ; check: vadd u
  store %r, %out[%i]
  ret
}
; rule: mask_of_both
; no rule: select_by_joined

kernel @joined_as_bytes(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]          ; check: ldavh {{.*}} 0x10
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %d, %c
  %n = icmp.eq.i8x16 %a, %c
  %j = and.i1x16 %m, %n        ; check: vxor
                               ; next: vec {{.*}} zf {{.*}} & vcmpad 0x8
                               ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %mask_expand = mask_expand.i8x16 %j
  %d2 = absdiff_u.i8x16 %a, %b
  %m2 = icmp.ge_u.i8x16 %d2, %c
  %n2 = icmp.eq.i8x16 %a, %c
  %j2 = or.i1x16 %m2, %n2      ; check: vxor
                               ; next: vec {{.*}} zf {{.*}} & vcmpad 0xb
                               ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %mask_expand2 = mask_expand.i8x16 %j2
  store %mask_expand, %out1[%i]
  store %mask_expand2, %out2[%i]
  ret
}
; rule: mask_of_both, mask_of_either

kernel @some_joined(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %x_in: in i32, %y_in: in i32,
    %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                  ; check: ldas {{.*}} 0x4
  %d = absdiff_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %d, %c
  %e = absdiff_u.i8x16 %b, %c
  %n = icmp.lt_u.i8x16 %e, %a
  %j = or.i1x16 %m, %n
  %t = any.i1x16 %j
  %select = select.i32 %t, %x, %y      ; check: vcmpad 0xc
                                       ; next: vec {{.*}} sf {{.*}} & vcmpad 0xe
                                       ; next: mov $v0 $vc
                                       ; next: mov 0x0 $v0
                                       ; next: and
                                       ; next: add {{.*}} (slct {{.*}} zf
  store %select, %out[%i]
  ret
}
; rule: vflag_joined
