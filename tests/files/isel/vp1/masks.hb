; test: isel vp1
; Comparison and selection of sixteen bytes, and masks.
kernel @equal(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} 0x10
  %m = icmp.eq.i8x16 %a, %b
  %select = select.i8x16 %m, %a, %b        ; check: vxor
                                           ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %m2 = icmp.ne.i8x16 %a, %b
  %select2 = select.i8x16 %m2, %a, %b      ; check: vxor
                                           ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_eq, compare_ne

; A comparison chooses by its flags.
kernel @chosen(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                    ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                    ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %m = icmp.ne.i8x16 %a, %b
  %select = select.i8x16 %m, %b, %a      ; check: vxor{{.*}} SRC1=[[A]], SRC2=[[B]]
                                         ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  store %select, %out[%i]
  ret
}
; rule: select_by_comparison

; A condition of the scalar unit is spread over the vector.
kernel @chosen_as_a_whole(%a_in: in i8x16, %b_in: in i8x16, %x_in: in i32, %y_in: in i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                    ; check: ldas {{.*}} 0x4
  %c = icmp.lt_s.i32 %x, %y              ; check: max
                                         ; next: xor
                                         ; next: add {{.*}} (slct {{.*}} zf
  %select = select.i8x16 %c, %a, %b      ; check: mov $v0
                                         ; next: vswz {{.*}} lo
                                         ; next: vxor
                                         ; next: vand
                                         ; next: vxor
  store %select, %out[%i]
  ret
}
; rule: select_vector_by_truth

kernel @as_bytes(%a_in: in i8x16, %b_in: in i8x16, %m_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %none = const.i8x16 0
  %m_sign = load %m_in[%i]            ; check: ldavh {{.*}} 0x10
  %m = icmp.lt_s.i8x16 %m_sign, %none
  %icmp = icmp.le_s.i8x16 %a, %b      ; check: vsub s
                                      ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %icmp_bits = mask_expand.i8x16 %icmp
  %mask_expand = mask_expand.i8x16 %m
  store %icmp_bits, %out1[%i]
  store %mask_expand, %out2[%i]
  ret
}
; rule: mask_of_flags, mask_as_bytes

kernel @signs_as_bytes(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16, %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                  ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                  ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %icmp = icmp.lt_s.i8x16 %a, %b       ; check: vsub s{{.*}} SRC2=[[B]], SRC1=[[A]]
                                       ; next: vshr s {{.*}} 0x7
  %icmp_bits = mask_expand.i8x16 %icmp
  %icmp2 = icmp.gt_s.i8x16 %a, %b      ; check: vsub s{{.*}} SRC2=[[A]], SRC1=[[B]]
                                       ; next: vshr s {{.*}} 0x7
  %icmp2_bits = mask_expand.i8x16 %icmp2
  %k = const.i8x16 0
  %icmp3 = icmp.lt_s.i8x16 %a, %k      ; check: vshr s {{.*}} 0x7{{.*}} SRC1=[[A]]
  %icmp3_bits = mask_expand.i8x16 %icmp3
  store %icmp_bits, %out1[%i]
  store %icmp2_bits, %out2[%i]
  store %icmp3_bits, %out3[%i]
  ret
}
; rule: mask_of_sign_lt, mask_of_sign_gt, mask_of_sign

; The sign of an unsigned difference is clipped away.
kernel @unsigned_order_as_bytes(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %m = icmp.lt_u.i8x16 %a, %b      ; check: vsub u
                                   ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %r = mask_expand.i8x16 %m
  store %r, %out[%i]
  ret
}
; rule: mask_of_flags
; no rule: mask_of_sign_lt

; A mask that is used twice is compared for each: flags do not live that long.
kernel @used_twice(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]               ; check: ldavh {{.*}} 0x10
  %m = icmp.eq.i8x16 %a, %b
  %s = select.i8x16 %m, %a, %c      ; check: vxor
                                    ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %t = select.i8x16 %m, %c, %b      ; check: vxor
                                    ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u
  %r = add_sat_u.i8x16 %s, %t       ; check: vadd u
  store %r, %out[%i]
  ret
}
; rule: select_by_comparison
; no rule: mask_of_flags, select_by_bits

kernel @some(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} 0x10
  %m = icmp.eq.i8x16 %a, %b
  %c = any.i1x16 %m                        ; check: vxor
                                           ; next: mov $v0 $vc
                                           ; next: mov 0x0 $v0
                                           ; next: and
                                           ; next: add {{.*}} (slct {{.*}} zf
  %select = select.i8x16 %c, %a, %b        ; check: mov $v0
                                           ; next: vswz {{.*}} lo
                                           ; next: vxor
                                           ; next: vand
                                           ; next: vxor
  %m2 = icmp.ne.i8x16 %a, %b
  %c2 = any.i1x16 %m2                      ; check: vxor
                                           ; next: mov $v0 $vc
                                           ; next: mov 0x0 $v0
                                           ; next: and {{.*}} not
                                           ; next: add {{.*}} (slct {{.*}} zf
  %select2 = select.i8x16 %c2, %a, %b      ; check: mov $v0
                                           ; next: vswz {{.*}} lo
                                           ; next: vxor
                                           ; next: vand
                                           ; next: vxor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: some_flag_set, some_flag_clear

; Where all flags are set, none of their complement is.
kernel @all(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} 0x10
  %m = icmp.eq.i8x16 %a, %b
  %c = all.i1x16 %m                        ; check: vxor
                                           ; next: mov $v0 $vc
                                           ; next: mov 0x0 $v0
                                           ; next: and {{.*}} not
                                           ; next: add {{.*}} (slct {{.*}} zf
  %select = select.i8x16 %c, %a, %b        ; check: mov $v0
                                           ; next: vswz {{.*}} lo
                                           ; next: vxor
                                           ; next: vand
                                           ; next: vxor
  %m2 = icmp.ne.i8x16 %a, %b
  %c2 = all.i1x16 %m2                      ; check: vxor
                                           ; next: mov $v0 $vc
                                           ; next: mov 0x0 $v0
                                           ; next: and
                                           ; next: add {{.*}} (slct {{.*}} zf
  %select2 = select.i8x16 %c2, %a, %b      ; check: mov $v0
                                           ; next: vswz {{.*}} lo
                                           ; next: vxor
                                           ; next: vand
                                           ; next: vxor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: all_flags_set, all_flags_clear

kernel @conditions(%a_in: in i8x16, %b_in: in i8x16, %m2_in: in i8x16, %n_in: in i8x16, %out1: out i8x16,
    %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %none = const.i8x16 0
  %m2_sign = load %m2_in[%i]
  %m2 = icmp.lt_s.i8x16 %m2_sign, %none
  %n_sign = load %n_in[%i]                  ; check: ldavh {{.*}} 0x10
  %n = icmp.lt_s.i8x16 %n_sign, %none
  %m = icmp.ge_s.i8x16 %a, %b
  %c = all.i1x16 %m                         ; check: vsub s
                                            ; next: mov $v0 $vc
                                            ; next: mov 0x0 $v0
                                            ; next: and
                                            ; next: add {{.*}} (slct {{.*}} zf
  %select = select.i8x16 %c, %a, %b         ; check: mov $v0
                                            ; next: vswz {{.*}} lo
                                            ; next: vxor
                                            ; next: vand
                                            ; next: vxor
  %k = xor.i1x16 %m2, %n                    ; check: vxor
  %c2 = any.i1x16 %k                        ; check: vand {{.*}} 0xff
                                            ; next: mov $v0 $vc
                                            ; next: mov 0x0 $v0
                                            ; next: and {{.*}} not
                                            ; next: add {{.*}} (slct {{.*}} zf
  %select2 = select.i1x16 %c2, %m2, %n      ; check: mov $v0
                                            ; next: vswz {{.*}} lo
                                            ; next: vxor
                                            ; next: vand
                                            ; next: vxor
  %select2_bits = mask_expand.i8x16 %select2
  store %select, %out1[%i]
  store %select2_bits, %out2[%i]
  ret
}
; rule: vflag_icmp, vflag_plain

kernel @conditions_in_registers(%a_in: in i8x16, %b_in: in i8x16, %x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                  ; check: ldas {{.*}} 0x4
  %m = icmp.lt_s.i8x16 %a, %b
  %c = any.i1x16 %m                    ; check: vsub s
                                       ; next: mov $v0 $vc
                                       ; next: mov 0x0 $v0
                                       ; next: and
                                       ; next: add {{.*}} (slct {{.*}} zf
  %d = icmp.lt_s.i32 %x, %y            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %e = and.i1 %c, %d                   ; check: and
  %select = select.i32 %e, %x, %y      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: any_set

kernel @all_in_registers(%a_in: in i8x16, %b_in: in i8x16, %x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                  ; check: ldas {{.*}} 0x4
  %m = icmp.lt_s.i8x16 %a, %b
  %c = all.i1x16 %m                    ; check: vsub s
                                       ; next: mov $v0 $vc
                                       ; next: mov 0x0 $v0
                                       ; next: and {{.*}} not
                                       ; next: add {{.*}} (slct {{.*}} zf
  %d = icmp.lt_s.i32 %x, %y            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %e = and.i1 %c, %d                   ; check: and
  %select = select.i32 %e, %x, %y      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: all_are_set

kernel @of_four_in_registers(%a: i8x4, %b: i8x4, %x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %x = load %x_in[%i]
  %y = load %y_in[%i]
  %m = icmp.lt_s.i8x4 %a, %b           ; check: bsub s
                                       ; next: bshr s {{.*}} 0x7
  %c = any.i1x4 %m                     ; check: add
                                       ; next: add {{.*}} (slct {{.*}} zf
  %d = icmp.lt_s.i32 %x, %y            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %e = and.i1 %c, %d                   ; check: and
  %select = select.i32 %e, %x, %y      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: any_of_four

kernel @all_of_four_in_registers(%a: i8x4, %b: i8x4, %x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %x = load %x_in[%i]
  %y = load %y_in[%i]
  %m = icmp.le_s.i8x4 %a, %b           ; check: bsub s
                                       ; next: bshr s {{.*}} 0x7
                                       ; next: xor {{.*}} -0x1
  %c = all.i1x4 %m                     ; check: add {{.*}} 0x1
                                       ; next: add {{.*}} (slct {{.*}} zf
  %d = icmp.lt_s.i32 %x, %y            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %e = and.i1 %c, %d                   ; check: and
  %select = select.i32 %e, %x, %y      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: all_of_four

kernel @truth(%x_in: in i32, %y_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %x = load %x_in[%i]
  %y = load %y_in[%i]                  ; check: ldas {{.*}} 0x4
  %c = icmp.lt_s.i32 %x, %y            ; check: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %d = icmp.lt_u.i32 %x, %y            ; check: xor
                                       ; next: xor
                                       ; next: max
                                       ; next: xor
                                       ; next: add {{.*}} (slct {{.*}} zf
  %e = and.i1 %c, %d                   ; check: and
  %select = select.i32 %e, %x, %y      ; check: xor
                                       ; next: and
                                       ; next: xor
  store %select, %out[%i]
  ret
}
; rule: truth_of_flag

; test: isel vp1 passes=pack
; An unsigned difference is out of range where the first is less.
kernel @less(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %m = icmp.lt_u.i8x16 %a, %b
  %select = select.i8x16 %m, %a, %b        ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  %m2 = icmp.lt_s.i8x16 %a, %b
  %select2 = select.i8x16 %m2, %a, %b      ; check: vsub s{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_lt_u, compare_lt_s

kernel @greater(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %m = icmp.gt_u.i8x16 %a, %b
  %select = select.i8x16 %m, %a, %b        ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[B]], 1:SRC1=[[A]][1], 1:SRC2=[[B]]
  %m2 = icmp.gt_s.i8x16 %a, %b
  %select2 = select.i8x16 %m2, %a, %b      ; check: vsub s{{.*}} SRC2=[[A]], SRC1=[[B]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_gt_u, compare_gt_s

kernel @not_less(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %m = icmp.ge_u.i8x16 %a, %b
  %select = select.i8x16 %m, %a, %b        ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[B]], 1:SRC1=[[A]][1], 1:SRC2=[[B]]
  %m2 = icmp.ge_s.i8x16 %a, %b
  %select2 = select.i8x16 %m2, %a, %b      ; check: vsub s{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[B]], 1:SRC1=[[A]][1], 1:SRC2=[[B]]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_ge_u, compare_ge_s

kernel @not_greater(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                      ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                      ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %m = icmp.le_u.i8x16 %a, %b
  %select = select.i8x16 %m, %a, %b        ; check: vsub u{{.*}} SRC2=[[B]], SRC1=[[A]]
                                           ; next: bvec {{.*}} zf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[A]], 1:SRC1=[[B]][1], 1:SRC2=[[A]]
  %m2 = icmp.le_s.i8x16 %a, %b
  %select2 = select.i8x16 %m2, %a, %b      ; check: vsub s{{.*}} SRC2=[[A]], SRC1=[[B]]
                                           ; next: bvec {{.*}} sf {{.*}} & vmad2 u factor rd int -0x1 lo {{.*}} u {{.*}} u{{.*}} 1:SRC1=[[B]], 1:SRC1=[[A]][1], 1:SRC2=[[B]]
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: compare_le_u, compare_le_s

; A mask that is no comparison selects bits.
kernel @chosen_by_a_mask(%m_in: in i8x16, %a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %none = const.i8x16 0
  %m_sign = load %m_in[%i]
  %m = icmp.lt_s.i8x16 %m_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldavh {{.*}} 0x10
  %q = icmp.lt_s.i8x16 %a, %none
  %n = and.i1x16 %m, %q                  ; check: vand
  %select = select.i8x16 %n, %a, %b      ; check: vxor
                                         ; next: vand
                                         ; next: vxor
  store %select, %out[%i]
  ret
}
; rule: select_by_bits, select_vector_bits

kernel @chosen_or_zero(%m_in: in i8x16, %a_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %none = const.i8x16 0
  %m_sign = load %m_in[%i]
  %m = icmp.lt_s.i8x16 %m_sign, %none
  %a = load %a_in[%i]                       ; check: ldavh {{.*}} 0x10
  %q = icmp.lt_s.i8x16 %a, %none
  %n = and.i1x16 %m, %q                     ; check: vand
  %z = const.i8x16 0
  %select = select.i8x16 %n, %a, %z         ; check: vand
  %n2 = and.i1x16 %m, %q                    ; check: vand
  %z2 = const.i8x16 0
  %select2 = select.i8x16 %n2, %z2, %a      ; check: vand {{.*}} not
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: select_or_zero, select_zero_or

kernel @some_not(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldavh {{.*}} 0x10
  %m = icmp.lt_s.i8x16 %a, %b
  %n = not.i1x16 %m
  %c = any.i1x16 %n                      ; check: vsub s
                                         ; next: mov $v0 $vc
                                         ; next: mov 0x0 $v0
                                         ; next: and {{.*}} not
                                         ; next: add {{.*}} (slct {{.*}} zf
  %select = select.i8x16 %c, %a, %b      ; check: mov $v0
                                         ; next: vswz {{.*}} lo
                                         ; next: vxor
                                         ; next: vand
                                         ; next: vxor
  store %select, %out[%i]
  ret
}
; rule: vflag_not
