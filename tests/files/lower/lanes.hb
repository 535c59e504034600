; test: lower
; Algebra of lanes.
kernel @extracted(%a_in: in i8, %a2_in: in f16, %b_in: in f16, %a3_in: in i8x4, %b2_in: in i8, %out1: out i8,
    %out2: out f16, %out3: out i8, %out4: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %a2 = load %a2_in[%i]
  %b = load %b_in[%i]
  %a3 = load %a3_in[%i]
  %b2 = load %b2_in[%i]
  %x = splat.i8x4 %a
  %extract = extract.i8x4 %x, 1
  %x2 = concat.f16x2 %a2, %b
  %extract2 = extract.f16x2 %x2, 1
  %x3 = insert.i8x4 %a3, %b2, 1
  %extract3 = extract.i8x4 %x3, 1
  %x4 = insert.i8x4 %a3, %b2, 1
  %extract4 = extract.i8x4 %x4, 0
  store %extract, %out1[%i]
  store %extract2, %out2[%i]
  store %extract3, %out3[%i]
  store %extract4, %out4[%i]
  ret
}
;= kernel @extracted(%a_in: in i8, %a2_in: in f16, %b_in: in f16, %a3_in: in i8x4, %b2_in: in i8, %out1: out i8, %out2: out f16, %out3: out i8, %out4: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %b = load %b_in[%i]
;=   %a3 = load %a3_in[%i]
;=   %b2 = load %b2_in[%i]
;=   %extract4 = extract.i8x4 %a3, 0
;=   store %a, %out1[%i]
;=   store %b, %out2[%i]
;=   store %b2, %out3[%i]
;=   store %extract4, %out4[%i]
;=   ret
;= }
; rule: extract_splat, extract_concat, extract_insert, extract_past_insert

kernel @extracted_from_a_shuffle(%a_in: in i8x4, %b_in: in i8x4, %out: out i8) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %x = shuffle.i8x4 %a, %b, [7, 0, 5, 2]
  %extract = extract.i8x4 %x, 2
  store %extract, %out[%i]
  ret
}
;= kernel @extracted_from_a_shuffle(%a_in: in i8x4, %b_in: in i8x4, %out: out i8) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %extract = extract.i8x4 %b, 1
;=   store %extract, %out[%i]
;=   ret
;= }
; rule: extract_shuffle

kernel @inserted(%a_in: in i8x4, %b_in: in i8, %c_in: in i8, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = extract.i8x4 %a, 1
  %insert = insert.i8x4 %a, %x, 1
  %x2 = insert.i8x4 %a, %b, 1
  %insert2 = insert.i8x4 %x2, %c, 1
  store %insert, %out1[%i]
  store %insert2, %out2[%i]
  ret
}
;= kernel @inserted(%a_in: in i8x4, %b_in: in i8, %c_in: in i8, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %insert2 = insert.i8x4 %a, %c, 1
;=   store %a, %out1[%i]
;=   store %insert2, %out2[%i]
;=   ret
;= }
; rule: insert_extract, insert_insert

; Two lanes are two insertions.
kernel @inserted_elsewhere(%a_in: in i8x4, %b_in: in i8, %c_in: in i8, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %x = insert.i8x4 %a, %b, 1
  %r = insert.i8x4 %x, %c, 2
  store %r, %out[%i]
  ret
}
;= kernel @inserted_elsewhere(%a_in: in i8x4, %b_in: in i8, %c_in: in i8, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %x = insert.i8x4 %a, %b, 1
;=   %r = insert.i8x4 %x, %c, 2
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: insert_insert

kernel @shuffled_to_itself(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i8, %out1: out i8x4, %out2: out i8x4,
    %out3: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %a2 = load %a2_in[%i]
  %shuffle = shuffle.i8x4 %a, %b, [0, 1, 2, 3]
  %shuffle2 = shuffle.i8x4 %a, %b, [4, 5, 6, 7]
  %x = splat.i8x4 %a2
  %shuffle3 = shuffle.i8x4 %x, %x, [1, 0, 2, 7]
  store %shuffle, %out1[%i]
  store %shuffle2, %out2[%i]
  store %shuffle3, %out3[%i]
  ret
}
;= kernel @shuffled_to_itself(%a_in: in i8x4, %b_in: in i8x4, %a2_in: in i8, %out1: out i8x4, %out2: out i8x4, %out3: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %x = splat.i8x4 %a2
;=   store %a, %out1[%i]
;=   store %b, %out2[%i]
;=   store %x, %out3[%i]
;=   ret
;= }
; rule: shuffle_first, shuffle_second, shuffle_splat

kernel @shuffled(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %shuffle = shuffle.i8x4 %a, %a, [3, 6, 1, 4]
  %x = shuffle.i8x4 %a, %b, [3, 6, 1, 4]
  %shuffle2 = shuffle.i8x4 %x, %b, [1, 0, 3, 3]
  store %shuffle, %out1[%i]
  store %shuffle2, %out2[%i]
  ret
}
;= kernel @shuffled(%a_in: in i8x4, %b_in: in i8x4, %out1: out i8x4, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %shuffle = shuffle.i8x4 %a, %a, [3, 2, 1, 0]
;=   %shuffle2 = shuffle.i8x4 %a, %b, [6, 3, 4, 4]
;=   store %shuffle, %out1[%i]
;=   store %shuffle2, %out2[%i]
;=   ret
;= }
; rule: shuffle_self, shuffle_shuffle

; Of two operands nothing is known.
kernel @shuffled_of_two(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %r = shuffle.i8x4 %a, %b, [0, 5, 3, 6]
  store %r, %out[%i]
  ret
}
;= kernel @shuffled_of_two(%a_in: in i8x4, %b_in: in i8x4, %out: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %r = shuffle.i8x4 %a, %b, [0, 5, 3, 6]
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: shuffle_self, shuffle_first, shuffle_second

kernel @put_together(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %d_in: in i8x4, %a2_in: in i64,
    %a3_in: in i8x16, %out1: out i8x4, %out2: out i64, %out3: out i8x16) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %b = load %b_in[%i]
  %c = load %c_in[%i]
  %d = load %d_in[%i]
  %a2 = load %a2_in[%i]
  %a3 = load %a3_in[%i]
  %x = concat.i8x16 %a, %b, %c, %d
  %split = split.i8x4 %x, 2
  %x2 = split.i32 %a2, 0
  %y = split.i32 %a2, 1
  %concat = concat.i64 %x2, %y
  %w = split.i8x4 %a3, 0
  %x3 = split.i8x4 %a3, 1
  %y2 = split.i8x4 %a3, 2
  %z = split.i8x4 %a3, 3
  %concat2 = concat.i8x16 %w, %x3, %y2, %z
  store %split, %out1[%i]
  store %concat, %out2[%i]
  store %concat2, %out3[%i]
  ret
}
;= kernel @put_together(%a_in: in i8x4, %b_in: in i8x4, %c_in: in i8x4, %d_in: in i8x4, %a2_in: in i64, %a3_in: in i8x16, %out1: out i8x4, %out2: out i64, %out3: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %b = load %b_in[%i]
;=   %c = load %c_in[%i]
;=   %d = load %d_in[%i]
;=   %a2 = load %a2_in[%i]
;=   %a3 = load %a3_in[%i]
;=   store %c, %out1[%i]
;=   store %a2, %out2[%i]
;=   store %a3, %out3[%i]
;=   ret
;= }
; rule: split_concat, concat_two, concat_four

; In another order they are another value.
kernel @put_together_otherwise(%a_in: in i64, %out: out i64) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = split.i32 %a, 0
  %y = split.i32 %a, 1
  %r = concat.i64 %y, %x
  store %r, %out[%i]
  ret
}
;= kernel @put_together_otherwise(%a_in: in i64, %out: out i64) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %x = split.i32 %a, 0
;=   %y = split.i32 %a, 1
;=   %r = concat.i64 %y, %x
;=   store %r, %out[%i]
;=   ret
;= }
; no rule: concat_two

kernel @same_bits(%a_in: in i32, %out1: out i32, %out2: out i8x4) {
^entry:
  %i = item_id
  %a = load %a_in[%i]
  %x = bitcast.f16x2 %a
  %bitcast = bitcast.i32 %x
  %x2 = bitcast.f16x2 %a
  %bitcast2 = bitcast.i8x4 %x2
  store %bitcast, %out1[%i]
  store %bitcast2, %out2[%i]
  ret
}
;= kernel @same_bits(%a_in: in i32, %out1: out i32, %out2: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %a_in[%i]
;=   %bitcast2 = bitcast.i8x4 %a
;=   store %a, %out1[%i]
;=   store %bitcast2, %out2[%i]
;=   ret
;= }
; rule: bitcast_back, bitcast_bitcast

kernel @pointers(%a: in i32, %y: out i32) {
^entry:
  %i = item_id
  %k = const.i64 0
  %p = ptr_add %a, %k
  %v = load.i32 %p
  store %v, %y[%i]
  ret
}
;= kernel @pointers(%a: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %v = load %a
;=   store %v, %y[%i]
;=   ret
;= }
; rule: ptr_add_zero

kernel @pointers_added(%a: in i32, %y: out i32) {
^entry:
  %i = item_id
  %j = const.i64 8
  %p = ptr_add %a, %j
  %k = const.i64 4
  %q = ptr_add %p, %k
  %v = load.i32 %q
  store %v, %y[%i]
  ret
}
;= kernel @pointers_added(%a: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %0 = const.i64 12
;=   %q = ptr_add %a, %0
;=   %v = load.i32 %q
;=   store %v, %y[%i]
;=   ret
;= }
; rule: ptr_add_ptr_add
