; test: lower without=splat.i16x2,splat.i8x4
; Lanes and constants made of others.
kernel @splat(%a_in: in i8, %a2_in: in i16, %out1: out i8x4, %out2: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %splat = splat.i8x4 %a
  %splat2 = splat.i16x2 %a2
  store %splat, %out1[%i]
  store %splat2, %out2[%i]
  ret
}
;= kernel @splat(%a_in: in i8, %a2_in: in i16, %out1: out i8x4, %out2: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %splat = concat.i8x4 %a, %a, %a, %a
;=   %splat2 = concat.i16x2 %a2, %a2
;=   store %splat, %out1[%i]
;=   store %splat2, %out2[%i]
;=   ret
;= }
; rule: splat_bytes, splat_pair

; test: lower without=splat.i8x16
kernel @splat_vectors(%a_in: in i8, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %splat = splat.i8x16 %a
  store %splat, %out[%i]
  ret
}
;= kernel @splat_vectors(%a_in: in i8, %out: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = splat.i8x4 %a
;=   %splat = concat.i8x16 %0, %0, %0, %0
;=   store %splat, %out[%i]
;=   ret
;= }
; rule: splat_vector

; test: lower without=concat.i16x2
kernel @put_together(%a_in: in i16, %b_in: in i16, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %concat = concat.i16x2 %a, %b
  store %concat, %out[%i]
  ret
}
;= kernel @put_together(%a_in: in i16, %b_in: in i16, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = splat.i16x2 %a
;=   %concat = insert.i16x2 %0, %b, 1
;=   store %concat, %out[%i]
;=   ret
;= }
; rule: concat_by_insert

; test: lower without=extract.i16x2
kernel @extracted(%a_in: in i16x2, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %extract = extract.i16x2 %a, 1
  store %extract, %out[%i]
  ret
}
;= kernel @extracted(%a_in: in i16x2, %out: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %extract = split.i16 %a, 1
;=   store %extract, %out[%i]
;=   ret
;= }
; rule: extract_by_split

; test: lower without=split.i16
kernel @taken_apart(%a_in: in i16x2, %out: out i16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %split = split.i16 %a, 1
  store %split, %out[%i]
  ret
}
;= kernel @taken_apart(%a_in: in i16x2, %out: out i16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %split = extract.i16x2 %a, 1
;=   store %split, %out[%i]
;=   ret
;= }
; rule: split_by_extract

; test: lower without=extract.i8x16,split.i8
kernel @extracted_from_vectors(%a_in: in i8x16, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %extract = extract.i8x16 %a, 7
  store %extract, %out[%i]
  ret
}
;= kernel @extracted_from_vectors(%a_in: in i8x16, %out: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = split.i8x4 %a, 1
;=   %extract = extract.i8x4 %0, 3
;=   store %extract, %out[%i]
;=   ret
;= }
; rule: extract_by_word

; test: lower without=insert.i16x2
kernel @inserted_first(%a_in: in i16x2, %b_in: in i16, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %insert = insert.i16x2 %a, %b, 0
  store %insert, %out[%i]
  ret
}
;= kernel @inserted_first(%a_in: in i16x2, %b_in: in i16, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = extract.i16x2 %a, 1
;=   %insert = concat.i16x2 %b, %0
;=   store %insert, %out[%i]
;=   ret
;= }
; rule: insert_first

kernel @inserted_second(%a_in: in i16x2, %b_in: in i16, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %insert = insert.i16x2 %a, %b, 1
  store %insert, %out[%i]
  ret
}
;= kernel @inserted_second(%a_in: in i16x2, %b_in: in i16, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %insert = concat.i16x2 %0, %b
;=   store %insert, %out[%i]
;=   ret
;= }
; rule: insert_second

; test: lower without=insert.i8x4
kernel @inserted_in_four(%a_in: in i8x4, %b_in: in i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %insert = insert.i8x4 %a, %b, 3
  store %insert, %out[%i]
  ret
}
;= kernel @inserted_in_four(%a_in: in i8x4, %b_in: in i8, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = splat.i8x4 %b
;=   %insert = shuffle.i8x4 %a, %0, [0, 1, 2, 4]
;=   store %insert, %out[%i]
;=   ret
;= }
; rule: insert_by_shuffle

; test: lower without=shuffle.f16x2
kernel @shuffled_as_integers(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shuffle = shuffle.f16x2 %a, %b, [3, 0]
  store %shuffle, %out[%i]
  ret
}
;= kernel @shuffled_as_integers(%a_in: in f16x2, %b_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = bitcast.i16x2 %a
;=   %1 = bitcast.i16x2 %b
;=   %2 = shuffle.i16x2 %0, %1, [3, 0]
;=   %shuffle = bitcast.f16x2 %2
;=   store %shuffle, %out[%i]
;=   ret
;= }
; rule: shuffle_as_int

; test: lower without=shuffle.i16x2
kernel @shuffled_as_bytes(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shuffle = shuffle.i16x2 %a, %b, [3, 0]
  store %shuffle, %out[%i]
  ret
}
;= kernel @shuffled_as_bytes(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %0 = bitcast.i8x4 %a
;=   %1 = bitcast.i8x4 %b
;=   %2 = shuffle.i8x4 %0, %1, [6, 7, 0, 1]
;=   %shuffle = bitcast.i16x2 %2
;=   store %shuffle, %out[%i]
;=   ret
;= }
; rule: shuffle_as_bytes

; test: lower without=shuffle.i1x2
kernel @shuffled_masks(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
^entry:
  %i = item_id
  %none = const.i16x2 0
  %a_sign = load %a_in[%i]
  %a = icmp.lt_s.i16x2 %a_sign, %none
  %b_sign = load %b_in[%i]
  %b = icmp.lt_s.i16x2 %b_sign, %none
  %shuffle = shuffle.i1x2 %a, %b, [3, 0]
  %shuffle_bits = mask_expand.i16x2 %shuffle
  store %shuffle_bits, %out[%i]
  ret
}
;= kernel @shuffled_masks(%a_in: in i16x2, %b_in: in i16x2, %out: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i16x2 0
;=   %a_sign = load %a_in[%i]
;=   %a = icmp.lt_s.i16x2 %a_sign, %none
;=   %b_sign = load %b_in[%i]
;=   %b = icmp.lt_s.i16x2 %b_sign, %none
;=   %0 = mask_expand.i16x2 %a
;=   %1 = mask_expand.i16x2 %b
;=   %2 = shuffle.i16x2 %0, %1, [3, 0]
;=   %shuffle = icmp.ne.i16x2 %2, %none
;=   %shuffle_bits = mask_expand.i16x2 %shuffle
;=   store %shuffle_bits, %out[%i]
;=   ret
;= }
; rule: shuffle_mask

; test: lower without=const.i8x16
kernel @constants(%a_in: in i8x16, %out: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i8x16 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255]
  %add = add.i8x16 %a, %k
  store %add, %out[%i]
  ret
}
;= kernel @constants(%a_in: in i8x16, %out: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i8x4 [1, 2, 3, 4]
;=   %1 = const.i8x4 [5, 6, 7, 8]
;=   %2 = const.i8x4 [9, 10, 11, 12]
;=   %3 = const.i8x4 [13, 14, 15, -1]
;=   %k = concat.i8x16 %0, %1, %2, %3
;=   %add = add.i8x16 %a, %k
;=   store %add, %out[%i]
;=   ret
;= }
; rule: const_vector

; test: lower without=const.i64
kernel @constant_pairs(%a_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.i64 0x0123456789abcdef
  %add = add.i64 %a, %k
  store %add, %out[%i]
  ret
}
;= kernel @constant_pairs(%a_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i32 -1985229329
;=   %1 = const.i32 19088743
;=   %k = concat.i64 %0, %1
;=   %add = add.i64 %a, %k
;=   store %add, %out[%i]
;=   ret
;= }
; rule: const_i64

; test: lower without=const.f16x2
kernel @constant_halves(%a_in: in f16x2, %out: out f16x2) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %k = const.f16x2 1.5
  %fadd = fadd.f16x2 %a, %k
  store %fadd, %out[%i]
  ret
}
;= kernel @constant_halves(%a_in: in f16x2, %out: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %0 = const.i16x2 15872
;=   %k = bitcast.f16x2 %0
;=   %fadd = fadd.f16x2 %a, %k
;=   store %fadd, %out[%i]
;=   ret
;= }
; rule: const_as_int

; test: lower without=const.i1x4
kernel @constant_masks(%a_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %none = const.i8x4 0
  %a_sign = load %a_in[%i]
  %a = icmp.lt_s.i8x4 %a_sign, %none
  %k = const.i1x4 [1, 0, 0, 1]
  %and = and.i1x4 %a, %k
  %and_bits = mask_expand.i8x4 %and
  store %and_bits, %out[%i]
  ret
}
;= kernel @constant_masks(%a_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %none = const.i8x4 0
;=   %a_sign = load %a_in[%i]
;=   %a = icmp.lt_s.i8x4 %a_sign, %none
;=   %0 = const.i8x4 [1, 0, 0, 1]
;=   %k = icmp.ne.i8x4 %0, %none
;=   %and = and.i1x4 %a, %k
;=   %and_bits = mask_expand.i8x4 %and
;=   store %and_bits, %out[%i]
;=   ret
;= }
; rule: const_mask
