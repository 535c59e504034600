; test: isel vp1
; Four bytes that all items share are in a register of the scalar unit.

; Seven bits of each byte have room for a carry.
kernel @sums_that_wrap(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %add = add.i8x4 %a, %b      ; check: band {{.*}} 0x7f
                              ; next: band {{.*}} 0x7f
                              ; next: add
                              ; next: xor
                              ; next: band {{.*}} 0x80
                              ; next: xor
  %sub = sub.i8x4 %a, %b      ; check: bor {{.*}} 0x80
                              ; next: band {{.*}} 0x7f
                              ; next: sub
                              ; next: nxor
                              ; next: band {{.*}} 0x80
                              ; next: xor
  store %add, %out1[%i]
  store %sub, %out2[%i]
  ret
}
; rule: four_add, four_sub, difference_by_bits

kernel @signs(%a: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %neg = neg.i8x4 %a      ; check: band {{.*}} 0x7f
                          ; next: sub
                          ; next: xor {{.*}} -0x1
                          ; next: band {{.*}} 0x80
                          ; next: xor
  %abs = abs.i8x4 %a      ; check: bshr s {{.*}} 0x7
                          ; next: xor
                          ; next: bshr u {{.*}} 0x7
                          ; next: badd u
  store %neg, %out1[%i]
  store %abs, %out2[%i]
  ret
}
; rule: four_neg, four_abs

kernel @sums_that_saturate(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %add_sat_s = add_sat_s.i8x4 %a, %b      ; check: badd s
  %add_sat_u = add_sat_u.i8x4 %a, %b      ; check: badd u
  %sub_sat_s = sub_sat_s.i8x4 %a, %b      ; check: bsub s
  %sub_sat_u = sub_sat_u.i8x4 %a, %b      ; check: bsub u
  store %add_sat_s, %out1[%i]
  store %add_sat_u, %out2[%i]
  store %sub_sat_s, %out3[%i]
  store %sub_sat_u, %out4[%i]
  ret
}
; rule: four_add_sat_s, four_add_sat_u, four_sub_sat_s, four_sub_sat_u

; A byte is the lowest of four.
kernel @single_bytes(%a_in: in i32, %b_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldas {{.*}} 0x4
  %x = trunc.i8 %a
  %y = trunc.i8 %b
  %z = add_sat_s.i8 %x, %y         ; check: badd s
  %sext = sext.i32 %z              ; check: shr {{.*}} -0x18
                                   ; next: sar {{.*}} 0x18
  %x2 = trunc.i8 %a
  %y2 = trunc.i8 %b
  %z2 = sub_sat_u.i8 %x2, %y2      ; check: bsub u
  %zext = zext.i32 %z2             ; check: and {{.*}} 0xff
  store %sext, %out1[%i]
  store %zext, %out2[%i]
  ret
}
; rule: four_add_sat_s, four_sub_sat_u

kernel @extremes(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4, %out4: out i8x4) {
^entry:
  %i = item_id
  %min_s = min_s.i8x4 %a, %b      ; check: bmin s
  %min_u = min_u.i8x4 %a, %b      ; check: bmin u
  %max_s = max_s.i8x4 %a, %b      ; check: bmax s
  %max_u = max_u.i8x4 %a, %b      ; check: bmax u
  store %min_s, %out1[%i]
  store %min_u, %out2[%i]
  store %max_s, %out3[%i]
  store %max_u, %out4[%i]
  ret
}
; rule: four_min_s, four_min_u, four_max_s, four_max_u

; No byte borrows from the next.
kernel @averages(%a: i8x4, %b: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %avg_u = avg_u.i8x4 %a, %b      ; check: or
                                  ; next: xor
                                  ; next: bshr u {{.*}} 0x1
                                  ; next: sub
  store %avg_u, %out[%i]
  ret
}
; rule: four_avg_u

kernel @distances(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %absdiff_u = absdiff_u.i8x4 %a, %b      ; check: bsub u
                                          ; next: bsub u
                                          ; next: or
  %absdiff_s = absdiff_s.i8x4 %a, %b      ; check: bxor {{.*}} 0x80
                                          ; next: bxor {{.*}} 0x80
                                          ; next: bsub u
                                          ; next: bsub u
                                          ; next: or
  store %absdiff_u, %out1[%i]
  store %absdiff_s, %out2[%i]
  ret
}
; rule: four_absdiff_u, distance_of_four_u, four_absdiff_s

kernel @products(%a: i8x4, %b: i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %mul_hi_u = mul_hi_u.i8x4 %a, %b      ; check: bmul rd u {{.*}} u {{.*}} u
  store %mul_hi_u, %out[%i]
  ret
}
; rule: four_mul_hi_u

kernel @shifts_by_a_constant(%a: i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %k = const.i8x4 1
  %shl = shl.i8x4 %a, %k           ; check: bshr u {{.*}} 0xf
  %k2 = const.i8x4 7
  %shr_s = shr_s.i8x4 %a, %k2      ; check: bshr s {{.*}} 0x7
  %k3 = const.i8x4 1
  %shr_u = shr_u.i8x4 %a, %k3      ; check: bshr u {{.*}} 0x1
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: four_shl_by, four_shr_s_by, four_shr_u_by

kernel @shifts(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
^entry:
  %i = item_id
  %shl = shl.i8x4 %a, %b          ; check: band {{.*}} 0x7
                                  ; next: bneg s
                                  ; next: bshr u
  %shr_s = shr_s.i8x4 %a, %b      ; check: band {{.*}} 0x7
                                  ; next: bshr s
  %shr_u = shr_u.i8x4 %a, %b      ; check: band {{.*}} 0x7
                                  ; next: bshr u
  store %shl, %out1[%i]
  store %shr_s, %out2[%i]
  store %shr_u, %out3[%i]
  ret
}
; rule: four_shl, four_shr_s, four_shr_u

; What is at most 1 becomes all bits or none.
kernel @equal(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.eq.i8x4 %a, %b                ; check: xor
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bsub s {{.*}} 0x1
  %select = select.i8x4 %m, %a, %b        ; check: xor
                                          ; next: and
                                          ; next: xor
  %m2 = icmp.ne.i8x4 %a, %b               ; check: xor
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bneg s
  %select2 = select.i8x4 %m2, %a, %b      ; check: xor
                                          ; next: and
                                          ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: four_eq, mask_of_zero_bytes, four_ne, mask_of_other_bytes

kernel @sums_over_lanes(%a: i8x4, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %reduce_add_u = reduce_add_u.i8x4 %a      ; check: and
                                            ; next: shr {{.*}} 0x8
                                            ; next: and
                                            ; next: add
                                            ; next: shr {{.*}} 0x10
                                            ; next: add
                                            ; next: and {{.*}} 0x3ff
  %reduce_add_s = reduce_add_s.i8x4 %a      ; check: bxor {{.*}} 0x80
                                            ; next: and
                                            ; next: shr {{.*}} 0x8
                                            ; next: and
                                            ; next: add
                                            ; next: shr {{.*}} 0x10
                                            ; next: add
                                            ; next: and {{.*}} 0x3ff
                                            ; next: sub {{.*}} 0x200
  store %reduce_add_u, %out1[%i]
  store %reduce_add_s, %out2[%i]
  ret
}
; rule: four_reduce_add_u, sum_of_pairs, four_reduce_add_s

kernel @sums_of_distances(%a: i8x4, %b: i8x4, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %c = load %c_in[%i]                 ; check: ldas {{.*}} 0x4
  %sad_u = sad_u.i8x4 %a, %b, %c      ; check: bsub u
                                      ; next: bsub u
                                      ; next: or
                                      ; next: and
                                      ; next: shr {{.*}} 0x8
                                      ; next: and
                                      ; next: add
                                      ; next: shr {{.*}} 0x10
                                      ; next: add
                                      ; next: and {{.*}} 0x3ff
                                      ; next: add
  store %sad_u, %out[%i]
  ret
}
; rule: four_sad_u

kernel @sums_of_signed_distances(%a: i8x4, %b: i8x4, %c_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %c = load %c_in[%i]                 ; check: ldas {{.*}} 0x4
  %sad_s = sad_s.i8x4 %a, %b, %c      ; check: bxor {{.*}} 0x80
                                      ; next: bxor {{.*}} 0x80
                                      ; next: bsub u
                                      ; next: bsub u
                                      ; next: or
                                      ; next: and
                                      ; next: shr {{.*}} 0x8
                                      ; next: and
                                      ; next: add
                                      ; next: shr {{.*}} 0x10
                                      ; next: add
                                      ; next: and {{.*}} 0x3ff
                                      ; next: add
  store %sad_s, %out[%i]
  ret
}
; rule: four_sad_s

kernel @extremes_over_lanes_s(%a: i8x4, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %x = reduce_min_s.i8x4 %a       ; check: shr {{.*}} 0x10
                                  ; next: bmin s
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmin s
  %sext = sext.i32 %x             ; check: shr {{.*}} -0x18
                                  ; next: sar {{.*}} 0x18
  %x2 = reduce_max_s.i8x4 %a      ; check: shr {{.*}} 0x10
                                  ; next: bmax s
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmax s
  %sext2 = sext.i32 %x2           ; check: shr {{.*}} -0x18
                                  ; next: sar {{.*}} 0x18
  store %sext, %out1[%i]
  store %sext2, %out2[%i]
  ret
}
; rule: four_reduce_min_s, fold_four_bytes, four_reduce_max_s

kernel @extremes_over_lanes_u(%a: i8x4, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %x = reduce_min_u.i8x4 %a       ; check: shr {{.*}} 0x10
                                  ; next: bmin u
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmin u
  %zext = zext.i32 %x             ; check: and {{.*}} 0xff
  %x2 = reduce_max_u.i8x4 %a      ; check: shr {{.*}} 0x10
                                  ; next: bmax u
                                  ; next: shr {{.*}} 0x8
                                  ; next: bmax u
  %zext2 = zext.i32 %x2           ; check: and {{.*}} 0xff
  store %zext, %out1[%i]
  store %zext2, %out2[%i]
  ret
}
; rule: four_reduce_min_u, four_reduce_max_u

; What each item has is in a vector instead.
kernel @bytes_of_every_item(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]             ; check: ldavh {{.*}} 0x10
  %r = add_sat_u.i8x4 %a, %b      ; check: vadd u
  store %r, %out[%i]
  ret
}
; rule: bytes_add_sat_u
; no rule: four_add_sat_u

; test: isel vp1 passes=pack
kernel @less(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.lt_u.i8x4 %a, %b              ; check: bsub u
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bneg s
  %select = select.i8x4 %m, %a, %b        ; check: xor
                                          ; next: and
                                          ; next: xor
  %m2 = icmp.lt_s.i8x4 %a, %b             ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
  %select2 = select.i8x4 %m2, %a, %b      ; check: xor
                                          ; next: and
                                          ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: four_lt_u, four_lt_s, mask_of_negative_bytes

kernel @greater(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.gt_u.i8x4 %a, %b              ; check: bsub u
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bneg s
  %select = select.i8x4 %m, %a, %b        ; check: xor
                                          ; next: and
                                          ; next: xor
  %m2 = icmp.gt_s.i8x4 %a, %b             ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
  %select2 = select.i8x4 %m2, %a, %b      ; check: xor
                                          ; next: and
                                          ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: four_gt_u, four_gt_s

kernel @not_less(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.ge_u.i8x4 %a, %b              ; check: bsub u
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bsub s {{.*}} 0x1
  %select = select.i8x4 %m, %a, %b        ; check: xor
                                          ; next: and
                                          ; next: xor
  %m2 = icmp.ge_s.i8x4 %a, %b             ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
                                          ; next: xor {{.*}} -0x1
  %select2 = select.i8x4 %m2, %a, %b      ; check: xor
                                          ; next: and
                                          ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: four_ge_u, four_ge_s

kernel @not_greater(%a: i8x4, %b: i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %m = icmp.le_u.i8x4 %a, %b              ; check: bsub u
                                          ; next: bmin u {{.*}} 0x1
                                          ; next: bsub s {{.*}} 0x1
  %select = select.i8x4 %m, %a, %b        ; check: xor
                                          ; next: and
                                          ; next: xor
  %m2 = icmp.le_s.i8x4 %a, %b             ; check: bsub s
                                          ; next: bshr s {{.*}} 0x7
                                          ; next: xor {{.*}} -0x1
  %select2 = select.i8x4 %m2, %a, %b      ; check: xor
                                          ; next: and
                                          ; next: xor
  store %select, %out1[%i]
  store %select2, %out2[%i]
  ret
}
; rule: four_le_u, four_le_s
