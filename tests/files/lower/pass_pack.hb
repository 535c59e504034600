; test: lower vp1 passes=pack,gvn,dce
; Four words in a vector.
kernel @four_words_in_a_vector(%by: i8x4, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i + 1]
  %b = add_sat_u.i8x4 %a, %by
  %m = icmp.lt_u.i8x4 %b, %a
  %c = select.i8x4 %m, %a, %b
  %d = shuffle.i8x4 %c, %a, [3, 2, 4, 0]
  store %d, %y[%i]
  ret
}
;= kernel @four_words_in_a_vector(%by: i8x4, %x: in i8x4, %y: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item offset 4
;=   stream %y_1: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = concat.i8x16 %by, %by, %by, %by
;=   %a = load %x_0[%0]
;=   %b = add_sat_u.i8x16 %a, %1
;=   %m = icmp.lt_u.i8x16 %b, %a
;=   %c = select.i8x16 %m, %a, %b
;=   %d = shuffle.i8x16 %c, %a, [3, 2, 16, 0, 7, 6, 20, 4, 11, 10, 24, 8, 15, 14, 28, 12]
;=   store %d, %y_1[%0]
;=   ret
;= }

; Sixteen bytes in a vector.
kernel @sixteen_bytes_in_a_vector(%x: in i8, %y: out i8, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8 100
  %b = min_u.i8 %a, %k
  store %b, %y[%i]
  %w = splat.i8x4 %b
  store %w, %z[%i]
  ret
}
;= kernel @sixteen_bytes_in_a_vector(%x: in i8, %y: out i8, %z: out i8x4) groups 16 {
;=   stream %x_0: in i8x16 of %x, 1 byte at 1 * item
;=   stream %y_1: out i8x16 of %y, 1 byte at 1 * item
;=   stream %z_2: out i8x16 of %z, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i8x16 100
;=   %2 = const.i32 4
;=   %a = load %x_0[%0]
;=   %b = min_u.i8x16 %a, %1
;=   store %b, %y_1[%0]
;=   %3 = shuffle.i8x16 %b, %b, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
;=   %4 = shuffle.i8x16 %b, %b, [4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]
;=   %5 = shuffle.i8x16 %b, %b, [8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11]
;=   %6 = shuffle.i8x16 %b, %b, [12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15]
;=   %7 = mul.i32 %0, %2
;=   store %3, %z_2[%7]
;=   store %4, %z_2[%7 + 1]
;=   store %5, %z_2[%7 + 2]
;=   store %6, %z_2[%7 + 3]
;=   ret
;= }

; Item by item.
kernel @item_by_item(%n: i32, %x: in i8x4, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i8x4 %a, %a
  %s = sad_u.i8x4 %a, %b, %n
  %r = add.i32 %s, %i
  store %r, %y[%i]
  ret
}
;= kernel @item_by_item(%n: i32, %x: in i8x4, %y: out i32) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_1: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i32 4
;=   %2 = mul.i32 %0, %1
;=   %3 = const.i32 1
;=   %4 = add.i32 %2, %3
;=   %5 = const.i32 2
;=   %6 = add.i32 %2, %5
;=   %7 = const.i32 3
;=   %8 = add.i32 %2, %7
;=   %a = load %x_0[%0]
;=   %b = add.i8x16 %a, %a
;=   %9 = split.i8x4 %a, 0
;=   %10 = split.i8x4 %a, 1
;=   %11 = split.i8x4 %a, 2
;=   %12 = split.i8x4 %a, 3
;=   %13 = split.i8x4 %b, 0
;=   %14 = split.i8x4 %b, 1
;=   %15 = split.i8x4 %b, 2
;=   %16 = split.i8x4 %b, 3
;=   %17 = sad_u.i8x4 %9, %13, %n
;=   %18 = sad_u.i8x4 %10, %14, %n
;=   %19 = sad_u.i8x4 %11, %15, %n
;=   %20 = sad_u.i8x4 %12, %16, %n
;=   %21 = add.i32 %17, %2
;=   %22 = add.i32 %18, %4
;=   %23 = add.i32 %19, %6
;=   %24 = add.i32 %20, %8
;=   store %21, %y_1[%2]
;=   store %22, %y_1[%2 + 1]
;=   store %23, %y_1[%2 + 2]
;=   store %24, %y_1[%2 + 3]
;=   ret
;= }

; A table and a parameter are read once.
kernel @a_table_and_a_parameter_are_read_once(%n: i32, %t: in i8x4, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %j = add.i32 %n, %n
  %a = load %t[%j]
  %b = load %x[%i]
  %c = mul.i8x4 %a, %a
  %d = xor.i8x4 %b, %c
  store %d, %y[%i]
  ret
}
;= kernel @a_table_and_a_parameter_are_read_once(%n: i32, %t: in i8x4, %x: in i8x4, %y: out i8x4) groups 4 {
;=   stream %t_0: uniform in i8x4 of %t, 4 bytes at 8 * %n
;=   stream %x_1: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_2: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %t_0
;=   %b = load %x_1[%0]
;=   %c = mul.i8x4 %a, %a
;=   %1 = concat.i8x16 %c, %c, %c, %c
;=   %d = xor.i8x16 %b, %1
;=   store %d, %y_2[%0]
;=   ret
;= }

; A branch that varies becomes selects and guards.
kernel @a_branch_that_varies_becomes_selects_and_guards(%x: in i8x4, %v: in i32, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %v[%i]
  %zero = const.i32 0
  %c = icmp.lt_s.i32 %b, %zero
  br_if %c, ^then, ^join(%a)
^then:
  %d = load %x[%i + 1]
  %e = add.i8x4 %a, %d
  br ^join(%e)
^join(%f: i8x4):
  store %f, %y[%i]
  ret
}
;= kernel @a_branch_that_varies_becomes_selects_and_guards(%x: in i8x4, %v: in i32, %y: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %v_1: in i32 of %v, 4 bytes at 4 * item
;=   stream %x_2: in i8x16 of %x, 4 bytes at 4 * item offset 4, guard %x_2_guard
;=   stream %x_2_guard: out i8x16, 4 bytes
;=   stream %y_4: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i32 4
;=   %2 = mul.i32 %0, %1
;=   %a = load %x_0[%0]
;=   %3 = load %v_1[%2]
;=   %4 = load %v_1[%2 + 1]
;=   %5 = load %v_1[%2 + 2]
;=   %6 = load %v_1[%2 + 3]
;=   %zero = const.i32 0
;=   %7 = icmp.lt_s.i32 %3, %zero
;=   %8 = icmp.lt_s.i32 %4, %zero
;=   %9 = icmp.lt_s.i32 %5, %zero
;=   %10 = icmp.lt_s.i32 %6, %zero
;=   %11 = mask_expand.i32 %7
;=   %12 = mask_expand.i32 %8
;=   %13 = mask_expand.i32 %9
;=   %14 = mask_expand.i32 %10
;=   %15 = concat.i8x16 %11, %12, %13, %14
;=   store %15, %x_2_guard[%0]
;=   %d = load %x_2[%0]
;=   %e = add.i8x16 %a, %d
;=   %16 = const.i8x16 0
;=   %17 = icmp.ne.i8x16 %15, %16
;=   %f = select.i8x16 %17, %e, %a
;=   store %f, %y_4[%0]
;=   ret
;= }

; A branch that does not vary stays.
kernel @a_branch_that_does_not_vary_stays(%n: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %zero = const.i32 0
  %c = icmp.lt_s.i32 %n, %zero
  br_if %c, ^then, ^join(%a)
^then:
  %e = mul.i8x4 %a, %a
  br ^join(%e)
^join(%f: i8x4):
  store %f, %y[%i]
  ret
}
;= kernel @a_branch_that_does_not_vary_stays(%n: i32, %x: in i8x4, %y: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_1: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %x_0[%0]
;=   %zero = const.i32 0
;=   %c = icmp.lt_s.i32 %n, %zero
;=   br_if %c, ^then, ^0(%a)
;= ^then:
;=   %e = mul.i8x16 %a, %a
;=   br ^0(%e)
;= ^0(%f: i8x16):
;=   store %f, %y_1[%0]
;=   ret
;= }

; A loop over a row, whose stride is a parameter.
kernel @a_loop_over_a_row_whose_stride_is_a_parameter(%n: i32, %w: i32, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.i8x4 0
  br ^head(%zero, %none)
^head(%k: i32, %acc: i8x4):
  %c = icmp.lt_s.i32 %k, %n
  br_if %c, ^body, ^done
^body:
  %p = mul.i32 %k, %w
  %o = add.i32 %p, %i
  %a = load %x[%o]
  %next = add.i8x4 %acc, %a
  %k2 = add.i32 %k, %one
  br ^head(%k2, %next)
^done:
  store %acc, %y[%i]
  ret
}
;= kernel @a_loop_over_a_row_whose_stride_is_a_parameter(%n: i32, %w: i32, %x: in i8x4, %y: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item, loop 0 trips signed 1 * %n by 4 * %w
;=   stream %y_1: out i8x16 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i8x16 0
;=   %2 = const.i32 0
;=   %3 = max_s.i32 %n, %2
;=   %4 = const.i32 1
;=   br ^head(%2, %1)
;= ^head(%k: i32, %acc: i8x16):
;=   %c = icmp.lt_s.i32 %k, %n
;=   br_if %c, ^0, ^1
;= ^0:
;=   %5 = mul.i32 %0, %3
;=   %6 = add.i32 %5, %k
;=   %a = load %x_0[%6]
;=   %next = add.i8x16 %acc, %a
;=   %k2 = add.i32 %k, %4
;=   br ^head(%k2, %next)
;= ^1:
;=   store %acc, %y_1[%0]
;=   ret
;= }

; A loop that varies goes on while an item is live in it.
kernel @a_loop_that_varies_goes_on_while_an_item_is_live_in_it(%v: in i32, %y: out i32) {
^entry:
  %i = item_id
  %b = load %v[%i]
  %one = const.i32 1
  br ^head(%b, %one)
^head(%k: i32, %acc: i32):
  %next = mul.i32 %acc, %k
  %k2 = sub.i32 %k, %one
  %c = icmp.gt_s.i32 %k2, %one
  br_if %c, ^head(%k2, %next), ^done
^done:
  store %next, %y[%i]
  ret
}
;= kernel @a_loop_that_varies_goes_on_while_an_item_is_live_in_it(%v: in i32, %y: out i32) groups 1 {
;=   stream %v_0: in i32 of %v, 4 bytes at 4 * item
;=   stream %y_1: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %i = item_id
;=   %0 = item_count
;=   %1 = icmp.lt_u.i32 %i, %0
;=   %b = load %v_0[%i]
;=   %one = const.i32 1
;=   %2 = const.i32 0
;=   br ^head(%b, %one, %1, %2)
;= ^head(%k: i32, %acc: i32, %3: i1, %4: i32):
;=   %next = mul.i32 %acc, %k
;=   %k2 = sub.i32 %k, %one
;=   %c = icmp.gt_s.i32 %k2, %one
;=   %5 = select.i32 %3, %next, %4
;=   %6 = and.i1 %3, %c
;=   br_if %6, ^head(%k2, %next, %6, %5), ^0
;= ^0:
;=   store %5, %y_1[%i]
;=   ret
;= }

; A stored value is not loaded again.
kernel @a_stored_value_is_not_loaded_again(%x: in i8x4, %y: inout i8x4, %z: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %c = add.i8x4 %a, %b
  store %c, %y[%i]
  %d = load %y[%i]
  store %d, %z[%i]
  ret
}
;= kernel @a_stored_value_is_not_loaded_again(%x: in i8x4, %y: inout i8x4, %z: out i8x4) groups 4 {
;=   stream %x_0: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_1: in i8x16 of %y, 4 bytes at 4 * item
;=   stream %y_2: out i8x16 of %y, 4 bytes at 4 * item
;=   stream %z_3: out i8x16 of %z, 4 bytes at 4 * item
;= ^entry:
;=   %0 = item_id
;=   %a = load %x_0[%0]
;=   %b = load %y_1[%0]
;=   %c = add.i8x16 %a, %b
;=   store %c, %y_2[%0]
;=   store %c, %z_3[%0]
;=   ret
;= }
