; test: lower without=select.i8x4
; Selection, masks, and what is folded over lanes.
kernel @by_bits(%c_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i8x4 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %select = select.i8x4 %c, %a, %b
  store %select, %out[%i]
  ret
}
;= kernel @by_bits(%c_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i8x4 %c_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = xor.i8x4 %a, %b
;=   %1 = mask_expand.i8x4 %c
;=   %2 = and.i8x4 %0, %1
;=   %select = xor.i8x4 %b, %2
;=   store %select, %out[%i]
;=   ret
;= }
; rule: select_by_bits

; test: lower without=select.f16x2
; Halves are selected as integers.
kernel @as_integers(%c_in: in i16x2, %a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %none = const.i16x2 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i16x2 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %select = select.f16x2 %c, %a, %b
  store %select, %out[%i]
  ret
}
;= kernel @as_integers(%c_in: in i16x2, %a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i16x2 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i16x2 %c_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = bitcast.i16x2 %a
;=   %1 = bitcast.i16x2 %b
;=   %2 = select.i16x2 %c, %0, %1
;=   %select = bitcast.f16x2 %2
;=   store %select, %out[%i]
;=   ret
;= }
; rule: select_as_int

; test: lower without=bitcast.i16x2,select.f16x2
; By one condition for all lanes, as a word.
kernel @as_words(%c_in: in i32, %a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %none = const.i32 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i32 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %select = select.f16x2 %c, %a, %b
  store %select, %out[%i]
  ret
}
;= kernel @as_words(%c_in: in i32, %a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i32 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i32 %c_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = bitcast.i32 %a
;=   %1 = bitcast.i32 %b
;=   %2 = select.i32 %c, %0, %1
;=   %select = bitcast.f16x2 %2
;=   store %select, %out[%i]
;=   ret
;= }
; rule: select_as_word

; test: lower without=and.i64,select.i64
kernel @pairs(%c_in: in i32, %a_in: in i64, %b_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %none = const.i32 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i32 %c_sign, %none
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %select = select.i64 %c, %a, %b
  store %select, %out[%i]
  ret
}
;= kernel @pairs(%c_in: in i32, %a_in: in i64, %b_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i32 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i32 %c_sign, %none
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = split.i32 %a, 0
;=   %1 = split.i32 %b, 0
;=   %2 = select.i32 %c, %0, %1
;=   %3 = split.i32 %a, 1
;=   %4 = split.i32 %b, 1
;=   %5 = select.i32 %c, %3, %4
;=   %select = concat.i64 %2, %5
;=   store %select, %out[%i]
;=   ret
;= }
; rule: select_i64

; test: lower without=select.i1x4
kernel @masks(%c_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i8x4 %c_sign, %none
  %a_sign = load %a_in[%i]
  %a = icmp.lt_s.i8x4 %a_sign, %none
  %b_sign = load %b_in[%i]
  %b = icmp.lt_s.i8x4 %b_sign, %none
  %select = select.i1x4 %c, %a, %b
  %select_bits = mask_expand.i8x4 %select
  store %select_bits, %out[%i]
  ret
}
;= kernel @masks(%c_in: in i8x4, %a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i8x4 %c_sign, %none
;=   %a_sign = load %a_in[%i]
;=   %a = icmp.lt_s.i8x4 %a_sign, %none
;=   %b_sign = load %b_in[%i]
;=   %b = icmp.lt_s.i8x4 %b_sign, %none
;=   %0 = and.i1x4 %c, %a
;=   %1 = not.i1x4 %c
;=   %2 = and.i1x4 %1, %b
;=   %select = or.i1x4 %0, %2
;=   %select_bits = mask_expand.i8x4 %select
;=   store %select_bits, %out[%i]
;=   ret
;= }
; rule: select_mask_by_bits

; test: lower without=mask_expand.i8x4
kernel @mask_as_lanes(%c_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i8x4 %c_sign, %none
  %mask_expand = mask_expand.i8x4 %c
  store %mask_expand, %out[%i]
  ret
}
;= kernel @mask_as_lanes(%c_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i8x4 %c_sign, %none
;=   %0 = const.i8x4 -1
;=   %mask_expand = select.i8x4 %c, %0, %none
;=   store %mask_expand, %out[%i]
;=   ret
;= }
; rule: mask_expand_by_select

; test: lower without=all.i1x2,any.i1x2
; A mask that is no word is asked as one.
kernel @some_and_all_by_words(%c_in: in i16x2, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %none = const.i16x2 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i16x2 %c_sign, %none
  %any = any.i1x2 %c
  %any_bits = mask_expand.i32 %any
  %all = all.i1x2 %c
  %all_bits = mask_expand.i32 %all
  store %any_bits, %out1[%i]
  store %all_bits, %out2[%i]
  ret
}
;= kernel @some_and_all_by_words(%c_in: in i16x2, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i16x2 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i16x2 %c_sign, %none
;=   %0 = mask_expand.i16x2 %c
;=   %1 = bitcast.i32 %0
;=   %2 = const.i32 0
;=   %any = icmp.ne.i32 %1, %2
;=   %any_bits = mask_expand.i32 %any
;=   %3 = const.i32 -1
;=   %all = icmp.eq.i32 %1, %3
;=   %all_bits = mask_expand.i32 %all
;=   store %any_bits, %out1[%i]
;=   store %all_bits, %out2[%i]
;=   ret
;= }
; rule: any_by_word, all_by_word

; test: lower without=any.i1x2
kernel @some_by_all(%c_in: in i16x2, %out: out i32) {
^entry:
  %i = item_id
  %none = const.i16x2 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i16x2 %c_sign, %none
  %any = any.i1x2 %c
  %any_bits = mask_expand.i32 %any
  store %any_bits, %out[%i]
  ret
}
;= kernel @some_by_all(%c_in: in i16x2, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i16x2 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i16x2 %c_sign, %none
;=   %0 = not.i1x2 %c
;=   %1 = all.i1x2 %0
;=   %any = not.i1 %1
;=   %any_bits = mask_expand.i32 %any
;=   store %any_bits, %out[%i]
;=   ret
;= }
; rule: any_by_all

; test: lower without=all.i1x2
kernel @all_by_some(%c_in: in i16x2, %out: out i32) {
^entry:
  %i = item_id
  %none = const.i16x2 0
  %c_sign = load %c_in[%i]
  %c = icmp.lt_s.i16x2 %c_sign, %none
  %all = all.i1x2 %c
  %all_bits = mask_expand.i32 %all
  store %all_bits, %out[%i]
  ret
}
;= kernel @all_by_some(%c_in: in i16x2, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i16x2 0
;=   %c_sign = load %c_in[%i]
;=   %c = icmp.lt_s.i16x2 %c_sign, %none
;=   %0 = not.i1x2 %c
;=   %1 = any.i1x2 %0
;=   %all = not.i1 %1
;=   %all_bits = mask_expand.i32 %all
;=   store %all_bits, %out[%i]
;=   ret
;= }
; rule: all_by_any

; test: lower without=sad_s.i8x4,sad_u.i8x4
kernel @sums_of_distances(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %sad_u = sad_u.i8x4 %a, %b, %s
  %sad_s = sad_s.i8x4 %a, %b, %s
  store %sad_u, %out1[%i]
  store %sad_s, %out2[%i]
  ret
}
;= kernel @sums_of_distances(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %0 = absdiff_u.i8x4 %a, %b
;=   %1 = reduce_add_u.i8x4 %0
;=   %sad_u = add.i32 %1, %s
;=   %2 = absdiff_s.i8x4 %a, %b
;=   %3 = reduce_add_u.i8x4 %2
;=   %sad_s = add.i32 %3, %s
;=   store %sad_u, %out1[%i]
;=   store %sad_s, %out2[%i]
;=   ret
;= }
; rule: sad_u_by_absdiff, sad_s_by_absdiff

; test: lower without=add.i32,sad_s.i8x4
; Signed bytes are as far apart as unsigned ones with the signs changed.
kernel @signed_distances_by_unsigned(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %sad_s = sad_s.i8x4 %a, %b, %s
  store %sad_s, %out[%i]
  ret
}
;= kernel @signed_distances_by_unsigned(%a_in: in i8x4, %b_in: in i8x4, %s_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %0 = const.i8x4 -128
;=   %1 = xor.i8x4 %a, %0
;=   %2 = xor.i8x4 %b, %0
;=   %sad_s = sad_u.i8x4 %1, %2, %s
;=   store %sad_s, %out[%i]
;=   ret
;= }
; rule: sad_s_by_sad_u

; test: lower without=add.i32,sad_u.i8x16
kernel @sums_of_distances_by_words(%a_in: in i8x16, %b_in: in i8x16, %s_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %sad_u = sad_u.i8x16 %a, %b, %s
  store %sad_u, %out[%i]
  ret
}
;= kernel @sums_of_distances_by_words(%a_in: in i8x16, %b_in: in i8x16, %s_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %b, 0
;=   %2 = sad_u.i8x4 %0, %1, %s
;=   %3 = split.i8x4 %a, 1
;=   %4 = split.i8x4 %b, 1
;=   %5 = sad_u.i8x4 %3, %4, %2
;=   %6 = split.i8x4 %a, 2
;=   %7 = split.i8x4 %b, 2
;=   %8 = sad_u.i8x4 %6, %7, %5
;=   %9 = split.i8x4 %a, 3
;=   %10 = split.i8x4 %b, 3
;=   %sad_u = sad_u.i8x4 %9, %10, %8
;=   store %sad_u, %out[%i]
;=   ret
;= }
; rule: sad_u_by_words

; test: lower without=add.i32,sad_s.i8x16,sad_u.i8x16
kernel @sums_of_signed_distances_by_words(%a_in: in i8x16, %b_in: in i8x16, %s_in: in i32, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %s = load %s_in[%i]
  %sad_s = sad_s.i8x16 %a, %b, %s
  store %sad_s, %out[%i]
  ret
}
;= kernel @sums_of_signed_distances_by_words(%a_in: in i8x16, %b_in: in i8x16, %s_in: in i32, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %s = load %s_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %b, 0
;=   %2 = sad_s.i8x4 %0, %1, %s
;=   %3 = split.i8x4 %a, 1
;=   %4 = split.i8x4 %b, 1
;=   %5 = sad_s.i8x4 %3, %4, %2
;=   %6 = split.i8x4 %a, 2
;=   %7 = split.i8x4 %b, 2
;=   %8 = sad_s.i8x4 %6, %7, %5
;=   %9 = split.i8x4 %a, 3
;=   %10 = split.i8x4 %b, 3
;=   %sad_s = sad_s.i8x4 %9, %10, %8
;=   store %sad_s, %out[%i]
;=   ret
;= }
; rule: sad_s_by_words

; test: lower without=reduce_add_u.i8x4
; A sum is of distances to zero.
kernel @sums_by_distances(%a_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_u = reduce_add_u.i8x4 %a
  store %reduce_add_u, %out[%i]
  ret
}
;= kernel @sums_by_distances(%a_in: in i8x4, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 0
;=   %1 = const.i32 0
;=   %reduce_add_u = sad_u.i8x4 %a, %0, %1
;=   store %reduce_add_u, %out[%i]
;=   ret
;= }
; rule: reduce_add_u_by_sad

; test: lower without=reduce_add_s.i8x4
kernel @signed_sums_by_unsigned(%a_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_s = reduce_add_s.i8x4 %a
  store %reduce_add_s, %out[%i]
  ret
}
;= kernel @signed_sums_by_unsigned(%a_in: in i8x4, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 -128
;=   %1 = xor.i8x4 %a, %0
;=   %2 = reduce_add_u.i8x4 %1
;=   %3 = const.i32 512
;=   %reduce_add_s = sub.i32 %2, %3
;=   store %reduce_add_s, %out[%i]
;=   ret
;= }
; rule: reduce_add_s_by_u

; test: lower without=reduce_add_s.i16x2,reduce_add_u.i16x2,sad_u.i16x2
kernel @sums_of_two_lanes(%a_in: in i16x2, %out1: out i32, %out2: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_s = reduce_add_s.i16x2 %a
  %reduce_add_u = reduce_add_u.i16x2 %a
  store %reduce_add_s, %out1[%i]
  store %reduce_add_u, %out2[%i]
  ret
}
;= kernel @sums_of_two_lanes(%a_in: in i16x2, %out1: out i32, %out2: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i16x2 %a, 1
;=   %3 = sext.i32 %2
;=   %reduce_add_s = add.i32 %1, %3
;=   %4 = zext.i32 %0
;=   %5 = zext.i32 %2
;=   %reduce_add_u = add.i32 %4, %5
;=   store %reduce_add_s, %out1[%i]
;=   store %reduce_add_u, %out2[%i]
;=   ret
;= }
; rule: reduce_add_s_by_halves, reduce_add_u_by_halves

; test: lower without=reduce_add_s.i8x4,xor.i8x4
kernel @sums_of_four_lanes(%a_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_s = reduce_add_s.i8x4 %a
  store %reduce_add_s, %out[%i]
  ret
}
;= kernel @sums_of_four_lanes(%a_in: in i8x4, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = sext.i32 %0
;=   %2 = extract.i8x4 %a, 1
;=   %3 = sext.i32 %2
;=   %4 = add.i32 %1, %3
;=   %5 = extract.i8x4 %a, 2
;=   %6 = sext.i32 %5
;=   %7 = extract.i8x4 %a, 3
;=   %8 = sext.i32 %7
;=   %9 = add.i32 %6, %8
;=   %reduce_add_s = add.i32 %4, %9
;=   store %reduce_add_s, %out[%i]
;=   ret
;= }
; rule: reduce_add_s_by_bytes

; test: lower without=reduce_add_u.i8x4,sad_u.i8x4
kernel @unsigned_sums_of_four_lanes(%a_in: in i8x4, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_u = reduce_add_u.i8x4 %a
  store %reduce_add_u, %out[%i]
  ret
}
;= kernel @unsigned_sums_of_four_lanes(%a_in: in i8x4, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = extract.i8x4 %a, 0
;=   %1 = zext.i32 %0
;=   %2 = extract.i8x4 %a, 1
;=   %3 = zext.i32 %2
;=   %4 = add.i32 %1, %3
;=   %5 = extract.i8x4 %a, 2
;=   %6 = zext.i32 %5
;=   %7 = extract.i8x4 %a, 3
;=   %8 = zext.i32 %7
;=   %9 = add.i32 %6, %8
;=   %reduce_add_u = add.i32 %4, %9
;=   store %reduce_add_u, %out[%i]
;=   ret
;= }
; rule: reduce_add_u_by_bytes

; test: lower without=reduce_add_s.i8x16,xor.i8x16
kernel @sums_by_words(%a_in: in i8x16, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_s = reduce_add_s.i8x16 %a
  store %reduce_add_s, %out[%i]
  ret
}
;= kernel @sums_by_words(%a_in: in i8x16, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = reduce_add_s.i8x4 %0
;=   %2 = split.i8x4 %a, 1
;=   %3 = reduce_add_s.i8x4 %2
;=   %4 = add.i32 %1, %3
;=   %5 = split.i8x4 %a, 2
;=   %6 = reduce_add_s.i8x4 %5
;=   %7 = split.i8x4 %a, 3
;=   %8 = reduce_add_s.i8x4 %7
;=   %9 = add.i32 %6, %8
;=   %reduce_add_s = add.i32 %4, %9
;=   store %reduce_add_s, %out[%i]
;=   ret
;= }
; rule: reduce_add_s_by_words

; test: lower without=reduce_add_u.i8x16,sad_u.i8x16
kernel @unsigned_sums_by_words(%a_in: in i8x16, %out: out i32) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_add_u = reduce_add_u.i8x16 %a
  store %reduce_add_u, %out[%i]
  ret
}
;= kernel @unsigned_sums_by_words(%a_in: in i8x16, %out: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = reduce_add_u.i8x4 %0
;=   %2 = split.i8x4 %a, 1
;=   %3 = reduce_add_u.i8x4 %2
;=   %4 = add.i32 %1, %3
;=   %5 = split.i8x4 %a, 2
;=   %6 = reduce_add_u.i8x4 %5
;=   %7 = split.i8x4 %a, 3
;=   %8 = reduce_add_u.i8x4 %7
;=   %9 = add.i32 %6, %8
;=   %reduce_add_u = add.i32 %4, %9
;=   store %reduce_add_u, %out[%i]
;=   ret
;= }
; rule: reduce_add_u_by_words

; test: lower without=reduce_max_s.i16x2,reduce_max_u.i16x2,reduce_min_s.i16x2,reduce_min_u.i16x2
; Lanes meet their neighbours.
kernel @extremes_of_two_lanes(%a_in: in i16x2, %out1: out i16, %out2: out i16, %out3: out i16, %out4: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_min_s = reduce_min_s.i16x2 %a
  %reduce_min_u = reduce_min_u.i16x2 %a
  %reduce_max_s = reduce_max_s.i16x2 %a
  %reduce_max_u = reduce_max_u.i16x2 %a
  store %reduce_min_s, %out1[%i]
  store %reduce_min_u, %out2[%i]
  store %reduce_max_s, %out3[%i]
  store %reduce_max_u, %out4[%i]
  ret
}
;= kernel @extremes_of_two_lanes(%a_in: in i16x2, %out1: out i16, %out2: out i16, %out3: out i16, %out4: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = shuffle.i16x2 %a, %a, [1, 0]
;=   %1 = min_s.i16x2 %a, %0
;=   %reduce_min_s = extract.i16x2 %1, 0
;=   %2 = min_u.i16x2 %a, %0
;=   %reduce_min_u = extract.i16x2 %2, 0
;=   %3 = max_s.i16x2 %a, %0
;=   %reduce_max_s = extract.i16x2 %3, 0
;=   %4 = max_u.i16x2 %a, %0
;=   %reduce_max_u = extract.i16x2 %4, 0
;=   store %reduce_min_s, %out1[%i]
;=   store %reduce_min_u, %out2[%i]
;=   store %reduce_max_s, %out3[%i]
;=   store %reduce_max_u, %out4[%i]
;=   ret
;= }
; rule: reduce_min_s_of_two, reduce_min_u_of_two, reduce_max_s_of_two, reduce_max_u_of_two

; test: lower without=reduce_max_s.i8x4,reduce_max_u.i8x4,reduce_min_s.i8x4,reduce_min_u.i8x4
; Lanes meet those half the vector away, then their neighbours.
kernel @extremes_of_four_lanes(%a_in: in i8x4, %out1: out i8, %out2: out i8, %out3: out i8, %out4: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_min_s = reduce_min_s.i8x4 %a
  %reduce_min_u = reduce_min_u.i8x4 %a
  %reduce_max_s = reduce_max_s.i8x4 %a
  %reduce_max_u = reduce_max_u.i8x4 %a
  store %reduce_min_s, %out1[%i]
  store %reduce_min_u, %out2[%i]
  store %reduce_max_s, %out3[%i]
  store %reduce_max_u, %out4[%i]
  ret
}
;= kernel @extremes_of_four_lanes(%a_in: in i8x4, %out1: out i8, %out2: out i8, %out3: out i8, %out4: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = shuffle.i8x4 %a, %a, [2, 3, 0, 1]
;=   %1 = min_s.i8x4 %a, %0
;=   %2 = shuffle.i8x4 %1, %1, [1, 2, 3, 0]
;=   %3 = min_s.i8x4 %1, %2
;=   %reduce_min_s = extract.i8x4 %3, 0
;=   %4 = min_u.i8x4 %a, %0
;=   %5 = shuffle.i8x4 %4, %4, [1, 2, 3, 0]
;=   %6 = min_u.i8x4 %4, %5
;=   %reduce_min_u = extract.i8x4 %6, 0
;=   %7 = max_s.i8x4 %a, %0
;=   %8 = shuffle.i8x4 %7, %7, [1, 2, 3, 0]
;=   %9 = max_s.i8x4 %7, %8
;=   %reduce_max_s = extract.i8x4 %9, 0
;=   %10 = max_u.i8x4 %a, %0
;=   %11 = shuffle.i8x4 %10, %10, [1, 2, 3, 0]
;=   %12 = max_u.i8x4 %10, %11
;=   %reduce_max_u = extract.i8x4 %12, 0
;=   store %reduce_min_s, %out1[%i]
;=   store %reduce_min_u, %out2[%i]
;=   store %reduce_max_s, %out3[%i]
;=   store %reduce_max_u, %out4[%i]
;=   ret
;= }
; rule: reduce_min_s_of_four, reduce_min_u_of_four, reduce_max_s_of_four, reduce_max_u_of_four

; test: lower without=reduce_max_s.i8x16,reduce_min_s.i8x16
kernel @extremes_by_words(%a_in: in i8x16, %out1: out i8, %out2: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_min_s = reduce_min_s.i8x16 %a
  %reduce_max_s = reduce_max_s.i8x16 %a
  store %reduce_min_s, %out1[%i]
  store %reduce_max_s, %out2[%i]
  ret
}
;= kernel @extremes_by_words(%a_in: in i8x16, %out1: out i8, %out2: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = min_s.i8x4 %0, %1
;=   %3 = split.i8x4 %a, 2
;=   %4 = split.i8x4 %a, 3
;=   %5 = min_s.i8x4 %3, %4
;=   %6 = min_s.i8x4 %2, %5
;=   %reduce_min_s = reduce_min_s.i8x4 %6
;=   %7 = max_s.i8x4 %0, %1
;=   %8 = max_s.i8x4 %3, %4
;=   %9 = max_s.i8x4 %7, %8
;=   %reduce_max_s = reduce_max_s.i8x4 %9
;=   store %reduce_min_s, %out1[%i]
;=   store %reduce_max_s, %out2[%i]
;=   ret
;= }
; rule: reduce_min_s_by_words, reduce_max_s_by_words

; test: lower without=reduce_max_u.i8x16,reduce_min_u.i8x16
kernel @unsigned_extremes_by_words(%a_in: in i8x16, %out1: out i8, %out2: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %reduce_min_u = reduce_min_u.i8x16 %a
  %reduce_max_u = reduce_max_u.i8x16 %a
  store %reduce_min_u, %out1[%i]
  store %reduce_max_u, %out2[%i]
  ret
}
;= kernel @unsigned_extremes_by_words(%a_in: in i8x16, %out1: out i8, %out2: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = min_u.i8x4 %0, %1
;=   %3 = split.i8x4 %a, 2
;=   %4 = split.i8x4 %a, 3
;=   %5 = min_u.i8x4 %3, %4
;=   %6 = min_u.i8x4 %2, %5
;=   %reduce_min_u = reduce_min_u.i8x4 %6
;=   %7 = max_u.i8x4 %0, %1
;=   %8 = max_u.i8x4 %3, %4
;=   %9 = max_u.i8x4 %7, %8
;=   %reduce_max_u = reduce_max_u.i8x4 %9
;=   store %reduce_min_u, %out1[%i]
;=   store %reduce_max_u, %out2[%i]
;=   ret
;= }
; rule: reduce_min_u_by_words, reduce_max_u_by_words
