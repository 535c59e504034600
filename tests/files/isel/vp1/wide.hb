; test: isel vp1
; Wide lanes, as sums of products that are narrowed as they are read.

; The four ways to narrow.
kernel @narrowed(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                        ; check: ldavh {{.*}} 0x10
  %x = mul_wide_s.i8x16 %a, %b
  %k = const.i16x16 7
  %y = round_shr_s.i16x16 %x, %k
  %narrow_sat_s = narrow_sat_s.i8x16 %y      ; check: vmul s rn int 0x1 hi {{.*}} s {{.*}} s
  %p = zext.i32x16 %a
  %q = sext.i32x16 %b
  %x2 = mul.i32x16 %p, %q
  %k2 = const.i32x16 6
  %y2 = shr_s.i32x16 %x2, %k2
  %n = narrow_sat_s.i16x16 %y2
  %narrow_sat_u = narrow_sat_u.i8x16 %n      ; check: vmul u rd int 0x2 hi {{.*}} u {{.*}} s
  store %narrow_sat_s, %out1[%i]
  store %narrow_sat_u, %out2[%i]
  ret
}
; rule: narrow_to_signed, narrow_to_unsigned

kernel @narrowed_unsigned(%a_in: in i8x16, %b_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                          ; check: ldavh {{.*}} 0x10
  %x = mul_wide_u.i8x16 %a, %b
  %k = const.i16x16 6
  %y = round_shr_u.i16x16 %x, %k
  %narrow_sat_uu = narrow_sat_uu.i8x16 %y      ; check: vmul u rn int 0x2 hi {{.*}} u {{.*}} u
  %x2 = mul_wide_u.i8x16 %a, %b
  %k2 = const.i16x16 8
  %y2 = shr_u.i16x16 %x2, %k2
  %trunc = trunc.i8x16 %y2                     ; check: vmul u rd int {{.*}} hi {{.*}} u {{.*}} u
  store %narrow_sat_uu, %out1[%i]
  store %trunc, %out2[%i]
  ret
}
; rule: narrow_unsigned, narrow_to_low_bits

; What lies between two vectors is one instruction.
kernel @between(%a_in: in i8x16, %b_in: in i8x16, %f_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]                        ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %b = load %b_in[%i]                        ; check: ldavh {{.*}} DST=[[B:v[0-9]+]]
  %f = load %f_in[%i]                        ; check: ldavh {{.*}} DST=[[F:v[0-9]+]]
  %p = zext.i32x16 %a
  %q = zext.i32x16 %b
  %w = zext.i32x16 %f
  %d = sub.i32x16 %p, %q
  %x = mul.i32x16 %d, %w
  %k = const.i32x16 8
  %y = shr_s.i32x16 %x, %k
  %z = add.i32x16 %q, %y
  %h = narrow_sat_s.i16x16 %z
  %narrow_sat_u = narrow_sat_u.i8x16 %h      ; check: vlrp rd{{.*}} SRC1=[[A]], SRC1=[[B]][1], SRC2=[[F]]
  store %narrow_sat_u, %out[%i]
  ret
}
; rule: computed_between

kernel @read(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                          ; check: ldavh {{.*}} 0x10
  %x = mul_wide_u.i8x16 %a, %b
  %k = const.i16x16 5
  %y = shr_u.i16x16 %x, %k
  %narrow_sat_uu = narrow_sat_uu.i8x16 %y      ; check: vmul u rd int 0x3 hi {{.*}} u {{.*}} u
  store %narrow_sat_uu, %out[%i]
  ret
}
; rule: computed_by_sum

kernel @product(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]          ; check: ldavh {{.*}} 0x10
  %x = mul_wide_s.i8x16 %a, %b
  %k = const.i16x16 9
  %y = round_shr_s.i16x16 %x, %k
  %trunc = trunc.i8x16 %y      ; check: vmul s rn int -0x1 hi {{.*}} s {{.*}} s
  store %trunc, %out[%i]
  ret
}
; rule: read_product

kernel @sum_of_products(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                        ; check: ldavh {{.*}} 0x10
  %p = mul_wide_s.i8x16 %a, %b
  %q = mul_wide_s.i8x16 %b, %c
  %v = sext.i32x16 %p
  %w = sext.i32x16 %q
  %x = add.i32x16 %v, %w
  %k = const.i32x16 8
  %y = round_shr_s.i32x16 %x, %k
  %z = trunc.i16x16 %y
  %narrow_sat_s = narrow_sat_s.i8x16 %z      ; check: vmul s rd int {{.*}} hi {{.*}} s {{.*}} s
                                             ; next: vmac s rn int {{.*}} hi {{.*}} s {{.*}} s
  %p2 = mul_wide_u.i8x16 %a, %b
  %q2 = mul_wide_u.i8x16 %b, %c
  %v2 = zext.i32x16 %p2
  %w2 = zext.i32x16 %q2
  %x2 = add.i32x16 %v2, %w2
  %k2 = const.i32x16 9
  %y2 = round_shr_u.i32x16 %x2, %k2
  %trunc = trunc.i8x16 %y2                   ; check: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u
                                             ; next: vmac u rn int -0x1 hi {{.*}} u {{.*}} u
  store %narrow_sat_s, %out1[%i]
  store %trunc, %out2[%i]
  ret
}
; rule: read_sum_and_product, added_product

kernel @sum_of_three_products(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]          ; check: ldavh {{.*}} 0x10
  %p = mul_wide_u.i8x16 %a, %b
  %q = mul_wide_u.i8x16 %b, %c
  %s = mul_wide_u.i8x16 %a, %c
  %v = zext.i32x16 %p
  %w = zext.i32x16 %q
  %x = zext.i32x16 %s
  %y = add.i32x16 %v, %w
  %z = add.i32x16 %x, %y
  %k = const.i32x16 10
  %n = shr_u.i32x16 %z, %k
  %trunc = trunc.i8x16 %n      ; check: vmul s rd int {{.*}} hi {{.*}} u {{.*}} u
                               ; next: vmac s rd int {{.*}} hi {{.*}} u {{.*}} u
                               ; next: vmac u rd int -0x2 hi {{.*}} u {{.*}} u
  store %trunc, %out[%i]
  ret
}
; rule: added_sum_and_product

; Two vectors by two factors at once.
kernel @pair(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]                        ; check: ldavh {{.*}} 0x10
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %f = const.i16x16 5
  %g = const.i16x16 -9
  %u = mul.i16x16 %p, %f
  %v = mul.i16x16 %q, %g
  %x = add.i16x16 %u, %v
  %k = const.i16x16 3
  %y = round_shr_s.i16x16 %x, %k
  %narrow_sat_s = narrow_sat_s.i8x16 %y      ; check: vec 0x14 -0x24 {{.*}} sf {{.*}} & vmad2 s factor rn int 0x3 hi {{.*}} u {{.*}} u
  store %narrow_sat_s, %out[%i]
  ret
}
; rule: read_pair

kernel @sum_of_pairs(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %d_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]                        ; check: ldavh {{.*}} 0x10
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %s = zext.i16x16 %c
  %t = zext.i16x16 %d
  %u = add.i16x16 %p, %q
  %k = const.i16x16 5
  %v = mul.i16x16 %u, %k
  %w = sub.i16x16 %v, %s
  %x = sub.i16x16 %w, %t
  %n = const.i16x16 3
  %y = round_shr_s.i16x16 %x, %n
  %narrow_sat_u = narrow_sat_u.i8x16 %y      ; check: vec 0x14 0x14 {{.*}} sf {{.*}} & vmad2 s factor rd int 0x3 hi {{.*}} u {{.*}} u
                                             ; next: vec -0x4 -0x4 {{.*}} sf {{.*}} & vmac2 u factor rn int 0x3 hi {{.*}} u
  store %narrow_sat_u, %out[%i]
  ret
}
; rule: added_pair

kernel @pair_added_to(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %d_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]                        ; check: ldavh {{.*}} 0x10
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %s = zext.i16x16 %c
  %t = zext.i16x16 %d
  %u = sub.i16x16 %p, %q
  %k = const.i16x16 3
  %v = mul.i16x16 %u, %k
  %w = add.i16x16 %v, %s
  %x = sub.i16x16 %w, %t
  %y = round_shr_s.i16x16 %x, %k
  %narrow_sat_s = narrow_sat_s.i8x16 %y      ; check: vec 0xc -0xc {{.*}} sf {{.*}} & vmad2 s factor rd int 0x3 hi {{.*}} u {{.*}} u
                                             ; next: vec 0x4 -0x4 {{.*}} sf {{.*}} & vmac2 s factor rn int 0x3 hi {{.*}} u
  store %narrow_sat_s, %out[%i]
  ret
}
; rule: read_sum_and_pair

kernel @six(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %d_in: in i8x16, %e_in: in i8x16, %f_in: in i8x16,
    %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %e = load %e_in[%i]
  %f = load %f_in[%i]                        ; check: ldavh {{.*}} 0x10
  %p = zext.i16x16 %a
  %q = zext.i16x16 %b
  %s = zext.i16x16 %c
  %t = zext.i16x16 %d
  %u = zext.i16x16 %e
  %v = zext.i16x16 %f
  %k = const.i16x16 20
  %m = const.i16x16 5
  %n = const.i16x16 5
  %o = add.i16x16 %p, %v
  %g = add.i16x16 %q, %u
  %h = add.i16x16 %s, %t
  %i2 = mul.i16x16 %g, %m
  %j = mul.i16x16 %h, %k
  %x = sub.i16x16 %j, %i2
  %y = add.i16x16 %x, %o
  %z = round_shr_s.i16x16 %y, %n
  %narrow_sat_u = narrow_sat_u.i8x16 %z      ; check: vec 0x14 0x14 {{.*}} sf {{.*}} & vmad2 s factor rd int 0x3 hi {{.*}} u {{.*}} u
                                             ; next: vec -0x5 -0x5 {{.*}} sf {{.*}} & vmac2 s factor rd int 0x3 hi {{.*}} u
                                             ; next: vec 0x1 0x1 {{.*}} sf {{.*}} & vmac2 u factor rn int 0x3 hi {{.*}} u
  store %narrow_sat_u, %out[%i]
  ret
}
; rule: added_sum_and_pair

kernel @nine_bits(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                        ; check: ldavh {{.*}} 0x10
  %h = concat.i16x16 %b, %c
  %k = const.i16x16 7
  %u = shl.i16x16 %h, %k
  %s = shr_s.i16x16 %u, %k
  %p = zext.i16x16 %a
  %x = add.i16x16 %p, %s
  %narrow_sat_u = narrow_sat_u.i8x16 %x      ; check: vadd9
  store %narrow_sat_u, %out[%i]
  ret
}
; rule: add_nine_bits

kernel @nine_bits_on_the_left(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]                        ; check: ldavh {{.*}} 0x10
  %h = concat.i16x16 %b, %c
  %k = const.i16x16 7
  %u = shl.i16x16 %h, %k
  %s = shr_s.i16x16 %u, %k
  %p = zext.i16x16 %a
  %x = add.i16x16 %s, %p
  %narrow_sat_u = narrow_sat_u.i8x16 %x      ; check: vadd9
  store %narrow_sat_u, %out[%i]
  ret
}
; rule: nine_bits_added

kernel @held_between(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: ldavh {{.*}} DST=[[A:v[0-9]+]]
  %l = const.i8x16 -20
  %h = const.i8x16 33
  %x = max_s.i8x16 %a, %l
  %min_s = min_s.i8x16 %x, %h      ; check: vclip{{.*}} SRC1=[[A]]
  store %min_s, %out[%i]
  ret
}
; rule: held_from_above

kernel @held_between_from_below(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: ldavh {{.*}} 0x10
  %l = const.i8x16 -20
  %h = const.i8x16 33
  %x = min_s.i8x16 %a, %h
  %max_s = max_s.i8x16 %x, %l      ; check: vclip
  store %max_s, %out[%i]
  ret
}
; rule: held_from_below

; Unsigned bounds are no clip: it is signed.
kernel @held_unsigned(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} 0x10
  %l = const.i8x16 20
  %h = const.i8x16 33
  %x = max_u.i8x16 %a, %l      ; check: vmax u {{.*}} 0x14
  %r = min_u.i8x16 %x, %h      ; check: vmin u {{.*}} 0x21
  store %r, %out[%i]
  ret
}
; rule: bytes_max_u, bytes_min_u
; no rule: held_from_above, held_from_below
; never: vclip

; Two vectors of which neither is known to be the lesser hold nothing between them.
kernel @held_between_bounds_of_no_order(%a_in: in i8x16, %b_in: in i8x16, %c_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]          ; check: ldavh {{.*}} 0x10
  %x = max_s.i8x16 %a, %b      ; check: vmax s
  %r = min_s.i8x16 %x, %c      ; check: vmin s
  store %r, %out[%i]
  ret
}
; rule: bytes_max_s, bytes_min_s
; no rule: held_from_above
; never: vclip

kernel @absolute_clipped(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]              ; check: ldavh {{.*}} 0x10
  %x = abs.i8x16 %a
  %k = const.i8x16 127
  %min_u = min_u.i8x16 %x, %k      ; check: vabs s
  store %min_u, %out[%i]
  ret
}
; rule: absolute_clipped

kernel @least_absolute_clipped(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %x = abs.i8x16 %a
  %y = abs.i8x16 %b
  %z = min_u.i8x16 %x, %y
  %k = const.i8x16 127
  %min_u = min_u.i8x16 %z, %k      ; check: vminabs
  store %min_u, %out[%i]
  ret
}
; rule: least_absolute_clipped

; The absolute value of -128 is no signed byte: where it cannot come, the machine's does.
kernel @absolute(%a_in: in i8x16, %out1: out i8x16, %out2: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 -127
  %m = max_s.i8x16 %a, %k      ; check: vmax s {{.*}} 0x81
  %abs = abs.i8x16 %m          ; check: vabs s
  %k2 = const.i8x16 -127
  %m2 = max_s.i8x16 %a, %k2
  %neg = neg.i8x16 %m2         ; check: vneg s
  store %abs, %out1[%i]
  store %neg, %out2[%i]
  ret
}
; rule: absolute, negation

; Elsewhere it does not.
kernel @absolute_of_anything(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]          ; check: ldavh {{.*}} 0x10
  %x = abs.i8x16 %a            ; check: vmul s rd int -0x2 lo {{.*}} s {{.*}} s 0xfc
                               ; next: vmin u
  %n = neg.i8x16 %a            ; check: vmul s rd int -0x2 lo {{.*}} s {{.*}} s 0xfc
  %r = min_u.i8x16 %x, %n      ; check: vmin u
  store %r, %out[%i]
  ret
}
; rule: bytes_abs, bytes_neg
; no rule: absolute, negation
; never: vabs

kernel @least_absolute(%a_in: in i8x16, %b_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]              ; check: ldavh {{.*}} 0x10
  %k = const.i8x16 -127
  %m = max_s.i8x16 %b, %k          ; check: vmax s {{.*}} 0x81
  %x = abs.i8x16 %a
  %y = abs.i8x16 %m
  %min_u = min_u.i8x16 %x, %y      ; check: vminabs
  store %min_u, %out[%i]
  ret
}
; rule: least_absolute
