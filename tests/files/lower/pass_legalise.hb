; test: lower passes=legalise
; What is native stays.
kernel @what_is_native_stays(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = not.i8x4 %a
  store %b, %y[%i]
  ret
}
;= kernel @what_is_native_stays(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = not.i8x4 %a
;=   store %b, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=not.i8x4
; By another op.
kernel @by_another_op(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = not.i8x4 %a
  store %b, %y[%i]
  ret
}
;= kernel @by_another_op(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i8x4 -1
;=   %b = xor.i8x4 %a, %0
;=   store %b, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=absdiff_u.i8x4,max_u.i8x4,min_u.i8x4,sub_sat_u.i8x4
; The shortest way, in two steps.
kernel @the_shortest_way_in_two_steps(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %d = absdiff_u.i8x4 %a, %b
  store %d, %y[%i]
  ret
}
;= kernel @the_shortest_way_in_two_steps(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %x[%i + 1]
;=   %0 = icmp.gt_u.i8x4 %a, %b
;=   %1 = select.i8x4 %0, %a, %b
;=   %2 = icmp.lt_u.i8x4 %a, %b
;=   %3 = select.i8x4 %2, %a, %b
;=   %d = sub.i8x4 %1, %3
;=   store %d, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=mul.f16x2,fmul.f16x2,ffma.f16x2,fmul.f16,ffma.f16,fmul.f32,ffma.f32,and.i32
; No way.
kernel @no_way(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = fmul.f16x2 %a, %a
  store %b, %y[%i]
  ret
}
;= kernel @no_way(%x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = fmul.f16x2 %a, %a
;=   store %b, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=sub.i8x4,neg.i8x4,sub.i8,neg.i8
; No circles.
kernel @no_circles(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8x4 9
  %b = sub.i8x4 %k, %a
  store %b, %y[%i]
  ret
}
;= kernel @no_circles(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i8x4 9
;=   %b = sub.i8x4 %k, %a
;=   store %b, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=add_sat_u.i8x16,add.i8x16,sub.i8x16,icmp.i8x16,select.i8x16,min_u.i8x16,not.i8x16,xor.i8x16,mask_expand.i8x16,max_u.i8x16,min_s.i8x16,max_s.i8x16,sub_sat_u.i8x16,or.i8x16,and.i8x16
; A vector by words.
kernel @a_vector_by_words(%x: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %s = add_sat_u.i8x16 %a, %b
  %m = icmp.lt_u.i8x16 %s, %b
  %r = select.i8x16 %m, %a, %s
  store %r, %y[%i]
  ret
}
;= kernel @a_vector_by_words(%x: in i8x16, %y: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %x[%i + 1]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = split.i8x4 %a, 2
;=   %3 = split.i8x4 %a, 3
;=   %4 = split.i8x4 %b, 0
;=   %5 = split.i8x4 %b, 1
;=   %6 = split.i8x4 %b, 2
;=   %7 = split.i8x4 %b, 3
;=   %8 = add_sat_u.i8x4 %0, %4
;=   %9 = add_sat_u.i8x4 %1, %5
;=   %10 = add_sat_u.i8x4 %2, %6
;=   %11 = add_sat_u.i8x4 %3, %7
;=   %12 = icmp.lt_u.i8x4 %8, %4
;=   %13 = icmp.lt_u.i8x4 %9, %5
;=   %14 = icmp.lt_u.i8x4 %10, %6
;=   %15 = icmp.lt_u.i8x4 %11, %7
;=   %16 = select.i8x4 %12, %0, %8
;=   %17 = select.i8x4 %13, %1, %9
;=   %18 = select.i8x4 %14, %2, %10
;=   %19 = select.i8x4 %15, %3, %11
;=   %r = concat.i8x16 %16, %17, %18, %19
;=   store %r, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=shuffle.i8x16,insert.i8x16,splat.i8x16
; Lanes change words.
kernel @lanes_change_words(%x: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %s = shuffle.i8x16 %a, %b, [0, 1, 2, 3, 3, 2, 1, 0, 0, 16, 1, 17, 0, 4, 8, 12]
  %e = extract.i8x16 %a, 5
  %t = insert.i8x16 %s, %e, 6
  store %t, %y[%i]
  ret
}
;= kernel @lanes_change_words(%x: in i8x16, %y: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %x[%i + 1]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = split.i8x4 %a, 2
;=   %3 = split.i8x4 %a, 3
;=   %4 = split.i8x4 %b, 0
;=   %5 = shuffle.i8x4 %0, %0, [3, 2, 1, 0]
;=   %6 = shuffle.i8x4 %0, %4, [0, 4, 1, 5]
;=   %7 = shuffle.i8x4 %0, %1, [0, 4, 0, 4]
;=   %8 = shuffle.i8x4 %2, %3, [0, 4, 0, 4]
;=   %9 = shuffle.i8x4 %7, %8, [0, 1, 4, 5]
;=   %e = extract.i8x16 %a, 5
;=   %10 = insert.i8x4 %5, %e, 2
;=   %t = concat.i8x16 %0, %10, %6, %9
;=   store %t, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=any.i1x16,all.i1x16,icmp.i8x16,not.i1x16
; Any of sixteen.
kernel @any_of_sixteen(%x: in i8x16, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %z = const.i8x16 0
  %m = icmp.eq.i8x16 %a, %z
  %c = any.i1x16 %m
  %r = mask_expand.i32 %c
  store %r, %y[%i]
  ret
}
;= kernel @any_of_sixteen(%x: in i8x16, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = split.i8x4 %a, 2
;=   %3 = split.i8x4 %a, 3
;=   %4 = const.i8x4 0
;=   %5 = const.i8x4 0
;=   %6 = const.i8x4 0
;=   %7 = const.i8x4 0
;=   %8 = icmp.eq.i8x4 %0, %4
;=   %9 = icmp.eq.i8x4 %1, %5
;=   %10 = icmp.eq.i8x4 %2, %6
;=   %11 = icmp.eq.i8x4 %3, %7
;=   %12 = or.i1x4 %8, %9
;=   %13 = or.i1x4 %10, %11
;=   %14 = or.i1x4 %12, %13
;=   %c = any.i1x4 %14
;=   %r = mask_expand.i32 %c
;=   store %r, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=icmp.i8x16,icmp.i16x16,icmp.i32x16,mask_expand.i8x16,xor.i8x16
; Select has the op but not the mask.
kernel @select_has_the_op_but_not_the_mask(%x: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %m = icmp.lt_u.i8x16 %a, %b
  %r = select.i8x16 %m, %a, %b
  store %r, %y[%i]
  ret
}
;= kernel @select_has_the_op_but_not_the_mask(%x: in i8x16, %y: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %x[%i + 1]
;=   %0 = split.i8x4 %a, 0
;=   %1 = split.i8x4 %a, 1
;=   %2 = split.i8x4 %a, 2
;=   %3 = split.i8x4 %a, 3
;=   %4 = split.i8x4 %b, 0
;=   %5 = split.i8x4 %b, 1
;=   %6 = split.i8x4 %b, 2
;=   %7 = split.i8x4 %b, 3
;=   %8 = icmp.lt_u.i8x4 %0, %4
;=   %9 = icmp.lt_u.i8x4 %1, %5
;=   %10 = icmp.lt_u.i8x4 %2, %6
;=   %11 = icmp.lt_u.i8x4 %3, %7
;=   %12 = select.i8x4 %8, %0, %4
;=   %13 = select.i8x4 %9, %1, %5
;=   %14 = select.i8x4 %10, %2, %6
;=   %15 = select.i8x4 %11, %3, %7
;=   %r = concat.i8x16 %12, %13, %14, %15
;=   store %r, %y[%i]
;=   ret
;= }

; test: lower passes=legalise without=switch.i32
; A switch.
kernel @a_switch(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  switch %a, ^other(%i), [0: ^zero, 7: ^other(%a), 9: ^zero]
^zero:
  ret
^other(%p: i32):
  store %p, %y[%i]
  ret
}
;= kernel @a_switch(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.i32 0
;=   %1 = icmp.eq.i32 %a, %0
;=   br_if %1, ^zero, ^0
;= ^0:
;=   %2 = const.i32 7
;=   %3 = icmp.eq.i32 %a, %2
;=   br_if %3, ^other(%a), ^1
;= ^1:
;=   %4 = const.i32 9
;=   %5 = icmp.eq.i32 %a, %4
;=   br_if %5, ^zero, ^other(%i)
;= ^zero:
;=   ret
;= ^other(%p: i32):
;=   store %p, %y[%i]
;=   ret
;= }
