; test: isel vp1
; Constants, and moving bytes between lanes and registers.

; A constant that is passed on has a register.
kernel @constants(%a_in: in i32, %n: i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8 21
  %z = const.i32 0
  %o = const.i32 1
  %m = const.i32 7
  %u = and.i32 %n, %m        ; check: and {{.*}} 0x7
  br ^l(%k, %z)
^l(%q: i8, %i2: i32):
  %s = add.i8 %q, %q         ; check: add
  %j = add.i32 %i2, %o       ; check: add {{.*}} 0x1
  %c = icmp.lt_u.i32 %j, %u
  br_if %c, ^l(%s, %j), ^e
^e:
  %x = zext.i32 %s           ; check: and {{.*}} 0xff
  %add = add.i32 %x, %a      ; check: add
  store %add, %out[%i]
  ret
}
; rule: const_in_register

; One lane is shuffled into all.
kernel @splat(%a_in: in i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %splat = splat.i8x16 %x      ; check: mov $v0
                               ; next: vswz {{.*}} lo
  store %splat, %out[%i]
  ret
}
; rule: splat_bytes, byte_everywhere

kernel @splat_in_a_word(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldas {{.*}} 0x4
                           ; next: ldas {{.*}} 0x4
                           ; next: ldas {{.*}} 0x4
                           ; next: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %y = splat.i8x4 %x       ; check: and {{.*}} 0xff
                           ; next: mul {{.*}} 0x101
                           ; next: shr {{.*}} -0x10
                           ; next: or
                           ; next: and {{.*}} 0xff
                           ; next: mul {{.*}} 0x101
                           ; next: shr {{.*}} -0x10
                           ; next: or
                           ; next: and {{.*}} 0xff
                           ; next: mul {{.*}} 0x101
                           ; next: shr {{.*}} -0x10
                           ; next: or
                           ; next: and {{.*}} 0xff
                           ; next: mul {{.*}} 0x101
                           ; next: shr {{.*}} -0x10
                           ; next: or
                           ; next: mov $v0
                           ; next: mov $v0 0x1
                           ; next: mov $v0 0x2
                           ; next: mov $v0 0x3
  %bitcast = bitcast.i32 %y
  store %bitcast, %out[%i]
  ret
}
; rule: splat_four

kernel @splat_masks(%a_in: in i8x16, %b_in: in i8x16, %x_in: in i32, %y_in: in i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = load %x_in[%i]
  %y = load %y_in[%i]                    ; check: ldas {{.*}} 0x4
  %c = icmp.lt_s.i32 %x, %y              ; check: max
                                         ; next: xor
                                         ; next: add {{.*}} (slct {{.*}} zf
  %m = splat.i1x16 %c                    ; check: mov $v0
                                         ; next: vswz {{.*}} lo
  %select = select.i8x16 %m, %a, %b      ; check: vxor
                                         ; next: vand
                                         ; next: vxor
  store %select, %out[%i]
  ret
}
; rule: splat_mask

kernel @splat_mask_of_four(%a: i8x4, %b: i8x4, %x: i32, %y: i32, %out: out i8x4) {
^entry:
  %i = item_id
  %c = icmp.lt_s.i32 %x, %y             ; check: max
                                        ; next: xor
                                        ; next: add {{.*}} (slct {{.*}} zf
  %m = splat.i1x4 %c
  %select = select.i8x4 %m, %a, %b      ; check: xor
                                        ; next: and
                                        ; next: xor
  store %select, %out[%i]
  ret
}
; rule: splat_mask_of_four

kernel @shuffled(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                                                 ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                                                 ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %shuffle = shuffle.i8x16 %a, %b, [0, 17, 2, 19, 31, 30, 29, 28, 5, 5, 5, 5, 16, 0, 16, 0]  ; check: vswz {{.*}} lo{{.*}} SRC1=[[A]], SRC2=[[B]]
  %swizzle = swizzle.i8x16 %a, %b                                     ; check: vswz {{.*}} lo{{.*}} SRC1=[[A]], SRC2=[[A]], SRC3=[[B]]
  store %shuffle, %out1[%i]
  store %swizzle, %out2[%i]
  ret
}
; rule: shuffle_vector, swizzle_vector

; The operands are words of a vector meanwhile.
kernel @four_shuffled(%a: i8x4, %b: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %shuffle = shuffle.i8x4 %a, %b, [0, 5, 3, 6]      ; check: mov $v0
                                                    ; next: mov $v0 0x1
                                                    ; next: vswz {{.*}} lo
                                                    ; next: mov 0x0 $v0
  store %shuffle, %out[%i]
  ret
}
; rule: shuffle_four

kernel @extracted(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]           ; check: ldas {{.*}} 0x4
  %x = extract.i8x16 %a, 5      ; check: mov 0x0 $v0
                                ; next: shr {{.*}} 0x8
  %y = zext.i32 %x              ; check: and {{.*}} 0xff
  %add = add.i32 %y, %b         ; check: add
  store %add, %out[%i]
  ret
}
; rule: extract_byte

kernel @extracted_from_words(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} 0x10
  %v = bitcast.i8x4 %a
  %x = extract.i8x4 %v, 3      ; check: mov 0x0 $v0
                               ; next: shr {{.*}} 0x18
                               ; next: mov 0x0 $v0
                               ; next: shr {{.*}} 0x18
                               ; next: mov 0x0 $v0
                               ; next: shr {{.*}} 0x18
                               ; next: mov 0x0 $v0
                               ; next: shr {{.*}} 0x18
  %zext = zext.i32 %x          ; check: and {{.*}} 0xff
                               ; next: and {{.*}} 0xff
                               ; next: and {{.*}} 0xff
                               ; next: and {{.*}} 0xff
  store %zext, %out[%i]
  ret
}
; rule: extract_part

kernel @extracted_from_masks(%m_in: in i8x16, %a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %none = const.i8x16 0
  %m_sign = load %m_in[%i]
  %m = icmp.lt_s.i8x16 %m_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]                    ; check: ldas {{.*}} 0x4
  %c = extract.i1x16 %m, 5               ; check: mov 0x0 $v0
                                         ; next: shr {{.*}} -0x10
                                         ; next: sar {{.*}} 0x1f
  %select = select.i32 %c, %a, %b        ; check: xor
                                         ; next: and
                                         ; next: xor
  %c2 = extract.i1x16 %m, 0              ; check: mov 0x0 $v0
                                         ; next: shr {{.*}} -0x18
                                         ; next: sar {{.*}} 0x1f
  %select2 = select.i32 %c2, %a, %b      ; check: xor
                                         ; next: and
                                         ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: extract_truth, mask_lane_everywhere

kernel @extracted_from_four(%a: i8x4, %b: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.lt_s.i8x4 %a, %b            ; check: bsub s
                                        ; next: bshr s {{.*}} 0x7
  %c = extract.i1x4 %m, 0               ; check: shr {{.*}} -0x18
                                        ; next: sar {{.*}} 0x1f
  %select = select.i8x4 %c, %a, %b      ; check: xor
                                        ; next: and
                                        ; next: xor
  store %select, %out[%i]
  ret
}
; rule: extract_truth_of_four

kernel @inserted(%a_in: in i8x16, %b_in: in i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                   ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %b
  %insert = insert.i8x16 %a, %x, 5      ; check: mov 0x0 $v0
                                        ; next: shr {{.*}} -0x8
                                        ; next: xor
                                        ; next: and
                                        ; next: xor
                                        ; next: mov $v0 0x1
  store %insert, %out[%i]
  ret
}
; rule: insert_in_vector

kernel @inserted_in_words(%a_in: in i32, %b_in: in i32, %a2: i8x4, %b2: i32, %out1: out i32, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldas {{.*}} 0x4
  %v = bitcast.i16x2 %a
  %x = trunc.i16 %b
  %w = insert.i16x2 %v, %x, 1      ; check: shr {{.*}} -0x10
                                   ; next: xor
                                   ; next: and
                                   ; next: xor
  %bitcast = bitcast.i32 %w
  %x2 = trunc.i8 %b2
  %insert = insert.i8x4 %a2, %x2, 1
  store %bitcast, %out1[%i]
  store %insert, %out2[%i]
  ret
}
; rule: insert_in_word, insert_by_bits

kernel @inserted_in_masks(%a: i8x4, %b: i8x4, %x: i32, %y: i32, %out: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.lt_s.i8x4 %a, %b            ; check: bsub s
                                        ; next: bshr s {{.*}} 0x7
  %c = icmp.lt_s.i32 %x, %y             ; check: max
                                        ; next: xor
                                        ; next: add {{.*}} (slct {{.*}} zf
  %n = insert.i1x4 %m, %c, 2            ; check: shr {{.*}} -0x10
                                        ; next: xor
                                        ; next: and
                                        ; next: xor
  %select = select.i8x4 %n, %a, %b      ; check: xor
                                        ; next: and
                                        ; next: xor
  store %select, %out[%i]
  ret
}
; rule: insert_in_mask

kernel @put_together(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldas {{.*}} 0x4
  %x = trunc.i16 %a
  %y = trunc.i16 %b
  %concat = concat.i32 %x, %y      ; check: and
                                   ; next: shr {{.*}} -0x10
                                   ; next: or
  %x2 = trunc.i8 %a
  %y2 = trunc.i8 %b
  %z = concat.i16 %x2, %y2         ; check: and {{.*}} 0xff
                                   ; next: shr {{.*}} -0x8
                                   ; next: or
  %zext = zext.i32 %z              ; check: and
  store %concat, %out1[%i]
  store %zext, %out2[%i]
  ret
}
; rule: concat_halves, concat_two_bytes, concat_by_bits

kernel @four_put_together(%a_in: in i32, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                      ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %y = trunc.i8 %b
  %concat = concat.i32 %x, %y, %y, %x      ; check: mov $v0
                                           ; next: mov $v0 0x1
                                           ; next: mov $v0 0x2
                                           ; next: mov $v0 0x3
                                           ; next: vswz {{.*}} lo
                                           ; next: mov 0x0 $v0
  store %concat, %out[%i]
  ret
}
; rule: concat_four_bytes

kernel @words_put_together(%a_in: in i32, %b_in: in i32, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                        ; check: ldas {{.*}} 0x4
  %x = bitcast.i8x4 %a
  %concat = concat.i8x16 %a, %b, %b, %a      ; check: mov $v0
                                             ; next: mov $v0 0x1
                                             ; next: mov $v0 0x2
                                             ; next: mov $v0 0x3
  store %concat, %out[%i]
  ret
}
; rule: concat_words

kernel @taken_apart(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]        ; check: ldas {{.*}} 0x4
  %x = split.i32 %a, 2       ; check: mov 0x0 $v0
  %y = add.i32 %x, %b        ; check: add
  %xor = xor.i32 %x, %y      ; check: xor
  store %xor, %out[%i]
  ret
}
; rule: split_word

kernel @narrow_parts(%a_in: in i32, %a2_in: in i8x16, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %b = load %b_in[%i]         ; check: ldas {{.*}} 0x4
  %x = split.i8 %a, 3         ; check: shr {{.*}} 0x18
  %zext = zext.i32 %x         ; check: and {{.*}} 0xff
  %x2 = split.i16 %a2, 5      ; check: mov 0x0 $v0
                              ; next: shr {{.*}} 0x10
  %y = zext.i32 %x2           ; check: and
  %add = add.i32 %y, %b       ; check: add
  store %zext, %out1[%i]
  store %add, %out2[%i]
  ret
}
; rule: split_narrow_of_word, split_narrow

kernel @extremes_over_lanes_s(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_min_s.i8x16 %a      ; check: vswz {{.*}} lo
                                  ; next: vmin s
                                  ; next: vswz {{.*}} lo
                                  ; next: vmin s
                                  ; next: mov 0x0 $v0
                                  ; next: shr {{.*}} 0x10
                                  ; next: bmin s
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmin s
  %y = sext.i32 %x                ; check: shr {{.*}} -0x18
                                  ; next: sar {{.*}} 0x18
  %add = add.i32 %y, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_min_s, fold_bytes

kernel @extremes_over_lanes_max_s(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_max_s.i8x16 %a      ; check: vswz {{.*}} lo
                                  ; next: vmax s
                                  ; next: vswz {{.*}} lo
                                  ; next: vmax s
                                  ; next: mov 0x0 $v0
                                  ; next: shr {{.*}} 0x10
                                  ; next: bmax s
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmax s
  %y = sext.i32 %x                ; check: shr {{.*}} -0x18
                                  ; next: sar {{.*}} 0x18
  %add = add.i32 %y, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_max_s

kernel @extremes_over_lanes_min_u(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_min_u.i8x16 %a      ; check: vswz {{.*}} lo
                                  ; next: vmin u
                                  ; next: vswz {{.*}} lo
                                  ; next: vmin u
                                  ; next: mov 0x0 $v0
                                  ; next: shr {{.*}} 0x10
                                  ; next: bmin u
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmin u
  %y = zext.i32 %x                ; check: and {{.*}} 0xff
  %add = add.i32 %y, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_min_u

kernel @extremes_over_lanes_u(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_max_u.i8x16 %a      ; check: vswz {{.*}} lo
                                  ; next: vmax u
                                  ; next: vswz {{.*}} lo
                                  ; next: vmax u
                                  ; next: mov 0x0 $v0
                                  ; next: shr {{.*}} 0x10
                                  ; next: bmax u
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmax u
  %y = zext.i32 %x                ; check: and {{.*}} 0xff
  %add = add.i32 %y, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_max_u

; Sixteen nibbles are a byte at most.
kernel @sums_over_lanes(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_add_u.i8x16 %a      ; check: vand {{.*}} 0xf
                                  ; next: vshr u {{.*}} 0x4
                                  ; next: vswz {{.*}} lo
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: mov 0x0 $v0
                                  ; next: and {{.*}} 0xff
                                  ; next: mov 0x0 $v0
                                  ; next: and {{.*}} 0xff
                                  ; next: shr {{.*}} -0x4
                                  ; next: add
  %add = add.i32 %x, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_add_u, sum_of_nibbles

kernel @signed_sums_over_lanes(%a_in: in i8x16, %b_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldas {{.*}} 0x4
  %x = reduce_add_s.i8x16 %a      ; check: vxor {{.*}} 0x80
                                  ; next: vand {{.*}} 0xf
                                  ; next: vshr u {{.*}} 0x4
                                  ; next: vswz {{.*}} lo
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: vswz {{.*}} lo
                                  ; next: vadd u
                                  ; next: mov 0x0 $v0
                                  ; next: and {{.*}} 0xff
                                  ; next: mov 0x0 $v0
                                  ; next: and {{.*}} 0xff
                                  ; next: shr {{.*}} -0x4
                                  ; next: add
                                  ; next: sub
  %add = add.i32 %x, %b           ; check: add
  store %add, %out[%i]
  ret
}
; rule: bytes_reduce_add_s

kernel @sums_of_distances(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                  ; check: ldas {{.*}} 0x4
  %sad_u = sad_u.i8x16 %a, %b, %c      ; check: vsub u
                                       ; next: vsub u
                                       ; next: vor
                                       ; next: vand {{.*}} 0xf
                                       ; next: vshr u {{.*}} 0x4
                                       ; next: vswz {{.*}} lo
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: mov 0x0 $v0
                                       ; next: and {{.*}} 0xff
                                       ; next: mov 0x0 $v0
                                       ; next: and {{.*}} 0xff
                                       ; next: shr {{.*}} -0x4
                                       ; next: add
                                       ; next: add
  store %sad_u, %out[%i]
  ret
}
; rule: bytes_sad_u

kernel @sums_of_signed_distances(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                  ; check: ldas {{.*}} 0x4
  %sad_s = sad_s.i8x16 %a, %b, %c      ; check: vmax s
                                       ; next: vmin s
                                       ; next: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u 0x4
                                       ; next: vmac s rd int -0x2 lo {{.*}} u {{.*}} s 0xfc
                                       ; next: vand {{.*}} 0xf
                                       ; next: vshr u {{.*}} 0x4
                                       ; next: vswz {{.*}} lo
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: vswz {{.*}} lo
                                       ; next: vadd u
                                       ; next: mov 0x0 $v0
                                       ; next: and {{.*}} 0xff
                                       ; next: mov 0x0 $v0
                                       ; next: and {{.*}} 0xff
                                       ; next: shr {{.*}} -0x4
                                       ; next: add
                                       ; next: add
  store %sad_s, %out[%i]
  ret
}
; rule: bytes_sad_s

; test: isel vp1 passes=pack
kernel @same_bits(%a_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]      ; check: ldas {{.*}} 0x4
  %x = bitcast.f32 %a
  %bitcast = bitcast.i32 %x
  store %bitcast, %out[%i]
  ret
}
; rule: bitcast_data
