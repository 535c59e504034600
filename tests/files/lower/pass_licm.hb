; test: lower passes=licm
; Out of one loop and out of two, from where there is a block before it and where there is none.
kernel @out_of_one_loop_and_out_of_two_from_where_there_is_a_block_before_it_and_where_there_is_none(%a: i32, %n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %some = icmp.ne.i32 %n, %zero
  br_if %some, ^outer(%zero, %i), ^done(%i)
^outer(%k: i32, %s: i32):
  %b = mul.i32 %a, %n
  %c = add.i32 %k, %b
  br ^inner(%s, %zero)
^inner(%t: i32, %l: i32):
  %d = mul.i32 %c, %c
  %e = xor.i32 %b, %i
  %v = load %x[%l]
  %f = add.i32 %d, %e
  %t1 = sub.i32 %t, %f
  %t2 = add.i32 %t1, %v
  %one = const.i32 1
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %l1, %n
  br_if %more, ^inner(%t2, %l1), ^next
^next:
  %k1 = add.i32 %k, %one
  %again = icmp.lt_u.i32 %k1, %a
  br_if %again, ^outer(%k1, %t2), ^done(%t2)
^done(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @out_of_one_loop_and_out_of_two_from_where_there_is_a_block_before_it_and_where_there_is_none(%a: i32, %n: i32, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %some = icmp.ne.i32 %n, %zero
;=   br_if %some, ^0, ^done(%i)
;= ^0:
;=   %b = mul.i32 %a, %n
;=   %e = xor.i32 %b, %i
;=   br ^outer(%zero, %i)
;= ^outer(%k: i32, %s: i32):
;=   %c = add.i32 %k, %b
;=   %d = mul.i32 %c, %c
;=   %f = add.i32 %d, %e
;=   br ^inner(%s, %zero)
;= ^inner(%t: i32, %l: i32):
;=   %v = load %x[%l]
;=   %t1 = sub.i32 %t, %f
;=   %t2 = add.i32 %t1, %v
;=   %one = const.i32 1
;=   %l1 = add.i32 %l, %one
;=   %more = icmp.lt_u.i32 %l1, %n
;=   br_if %more, ^inner(%t2, %l1), ^next
;= ^next:
;=   %k1 = add.i32 %k, %one
;=   %again = icmp.lt_u.i32 %k1, %a
;=   br_if %again, ^outer(%k1, %t2), ^done(%t2)
;= ^done(%r: i32):
;=   store %r, %y[%i]
;=   ret
;= }

; Entered from two blocks.
kernel @entered_from_two_blocks(%a: i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %some = icmp.lt_u.i32 %n, %i
  br_if %some, ^loop(%zero, %i), ^other
^other:
  %j = mul.i32 %i, %i
  br_if %some, ^loop(%zero, %j), ^loop(%i, %zero)
^loop(%k: i32, %s: i32):
  %b = mul.i32 %a, %n
  %t = sub.i32 %b, %s
  %one = const.i32 1
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %t), ^done
^done:
  store %t, %y[%i]
  ret
}
;= kernel @entered_from_two_blocks(%a: i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %some = icmp.lt_u.i32 %n, %i
;=   br_if %some, ^0(%zero, %i), ^other
;= ^other:
;=   %j = mul.i32 %i, %i
;=   br_if %some, ^0(%zero, %j), ^0(%i, %zero)
;= ^0(%0: i32, %1: i32):
;=   %b = mul.i32 %a, %n
;=   br ^loop(%0, %1)
;= ^loop(%k: i32, %s: i32):
;=   %t = sub.i32 %b, %s
;=   %one = const.i32 1
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %t), ^done
;= ^done:
;=   store %t, %y[%i]
;=   ret
;= }

; Constants and masks only with what needs them; loads not at all.
kernel @constants_and_masks_only_with_what_needs_them(%a: i32, %n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %start = const.i32 0
  br ^loop(%start, %i)
^loop(%k: i32, %s: i32):
  %two = const.i32 2
  %three = const.i32 3
  %five = const.i32 5
  %low = icmp.lt_u.i32 %a, %three
  %high = icmp.gt_u.i32 %a, %five
  %v = load %x[%i]
  %m = mul.i32 %n, %two
  %c = select.i32 %low, %m, %n
  %t = add.i32 %s, %c
  %u = add.i32 %t, %five
  %w = select.i32 %high, %u, %v
  %one = const.i32 1
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %w), ^done
^done:
  store %w, %y[%i]
  ret
}
;= kernel @constants_and_masks_only_with_what_needs_them(%a: i32, %n: i32, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %start = const.i32 0
;=   %two = const.i32 2
;=   %three = const.i32 3
;=   %low = icmp.lt_u.i32 %a, %three
;=   %v = load %x[%i]
;=   %m = mul.i32 %n, %two
;=   %c = select.i32 %low, %m, %n
;=   br ^loop(%start, %i)
;= ^loop(%k: i32, %s: i32):
;=   %five = const.i32 5
;=   %high = icmp.gt_u.i32 %a, %five
;=   %t = add.i32 %s, %c
;=   %u = add.i32 %t, %five
;=   %w = select.i32 %high, %u, %v
;=   %one = const.i32 1
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %w), ^done
;= ^done:
;=   store %w, %y[%i]
;=   ret
;= }

; A mask that leaves one loop alone, and two for what another loop needs.
kernel @a_mask_that_leaves_one_loop_alone_and_two_for_what_another_loop_needs(%a: i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^outer(%zero, %i)
^outer(%k: i32, %s: i32):
  %five = const.i32 5
  %low = icmp.lt_u.i32 %a, %five
  br ^inner(%s, %zero)
^inner(%t: i32, %l: i32):
  %c = select.i32 %low, %a, %k
  %d = select.i32 %low, %a, %n
  %e = add.i32 %c, %d
  %t1 = xor.i32 %t, %e
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %l1, %n
  br_if %more, ^inner(%t1, %l1), ^next
^next:
  %k1 = add.i32 %k, %one
  %again = icmp.lt_u.i32 %k1, %a
  br_if %again, ^outer(%k1, %t1), ^done
^done:
  store %t1, %y[%i]
  ret
}
;= kernel @a_mask_that_leaves_one_loop_alone_and_two_for_what_another_loop_needs(%a: i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %five = const.i32 5
;=   %low = icmp.lt_u.i32 %a, %five
;=   %d = select.i32 %low, %a, %n
;=   br ^outer(%zero, %i)
;= ^outer(%k: i32, %s: i32):
;=   %c = select.i32 %low, %a, %k
;=   %e = add.i32 %c, %d
;=   br ^inner(%s, %zero)
;= ^inner(%t: i32, %l: i32):
;=   %t1 = xor.i32 %t, %e
;=   %l1 = add.i32 %l, %one
;=   %more = icmp.lt_u.i32 %l1, %n
;=   br_if %more, ^inner(%t1, %l1), ^next
;= ^next:
;=   %k1 = add.i32 %k, %one
;=   %again = icmp.lt_u.i32 %k1, %a
;=   br_if %again, ^outer(%k1, %t1), ^done
;= ^done:
;=   store %t1, %y[%i]
;=   ret
;= }

; A loop without end, and one that is entered in two places.
kernel @a_loop_without_end_and_one_that_is_entered_in_two_places(%a: i32, %y: out i32) {
^entry:
  %i = item_id
  %c = icmp.lt_u.i32 %a, %i
  br_if %c, ^one, ^two
^one:
  %b = mul.i32 %a, %a
  store %b, %y[%i]
  br ^two
^two:
  %d = mul.i32 %a, %i
  store %d, %y[%i]
  br ^one
}
;= kernel @a_loop_without_end_and_one_that_is_entered_in_two_places(%a: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %c = icmp.lt_u.i32 %a, %i
;=   br_if %c, ^one, ^two
;= ^one:
;=   %b = mul.i32 %a, %a
;=   store %b, %y[%i]
;=   br ^two
;= ^two:
;=   %d = mul.i32 %a, %i
;=   store %d, %y[%i]
;=   br ^one
;= }

; A load of a buffer that no item writes leaves the loop whose first block has it, with its index.
kernel @input(%n: i32, %x: in i32, %z: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero, %zero)
^loop(%s: i32, %l: i32):
  %j = add.i32 %i, %n
  %v = load %x[%j]
  %u = load %z[%l]
  %p = mul.i32 %u, %v
  %s1 = add.i32 %s, %p
  %one = const.i32 1
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %l1, %n
  br_if %more, ^loop(%s1, %l1), ^done
^done:
  store %s1, %y[%i]
  ret
}
;= kernel @input(%n: i32, %x: in i32, %z: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %j = add.i32 %i, %n
;=   %v = load %x[%j]
;=   br ^loop(%zero, %zero)
;= ^loop(%s: i32, %l: i32):
;=   %u = load %z[%l]
;=   %p = mul.i32 %u, %v
;=   %s1 = add.i32 %s, %p
;=   %one = const.i32 1
;=   %l1 = add.i32 %l, %one
;=   %more = icmp.lt_u.i32 %l1, %n
;=   br_if %more, ^loop(%s1, %l1), ^done
;= ^done:
;=   store %s1, %y[%i]
;=   ret
;= }

; Loads that stay: of a buffer that the kernel writes, of one that may overlap such a buffer, and at an index of the loop.
kernel @written(%n: i32, %x: inout may_alias i32, %z: in may_alias i32, %t: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero)
^loop(%l: i32):
  %u = load %x[%i]
  %v = load %z[%i]
  %w = load %t[%l]
  %p = add.i32 %u, %v
  %q = add.i32 %p, %w
  store %q, %x[%i]
  %one = const.i32 1
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %l1, %n
  br_if %more, ^loop(%l1), ^done
^done:
  store %l1, %y[%i]
  ret
}
; check: ^loop
; check-count-3: load

; Loads that stay, because the item may leave the loop or store before it executes them.
kernel @later(%n: i32, %x: in i32, %z: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero)
^loop(%l: i32):
  store %l, %y[%i]
  %u = load %x[%i]
  %ends = icmp.eq.i32 %u, %l
  br_if %ends, ^done, ^rest
^rest:
  %v = load %z[%i]
  %l1 = add.i32 %l, %v
  %more = icmp.lt_u.i32 %l1, %n
  br_if %more, ^loop(%l1), ^done
^done:
  ret
}
; check: ^loop
; check-count-2: load

; A load leaves a loop only if no load that can trap before it stays in the loop.
kernel @loads_before_and_after_a_load_that_stays(%x: in i32, %y: in i32, %z: in i32, %n: i32, %o: out i32) {
^entry:
  %zero = const.i32 0
  br ^loop(%zero, %zero)
^loop(%i: i32, %s: i32):
  %before = load %y
  %stays = load %x[%i]
  %after = load %z
  %a = add.i32 %before, %stays
  %b = add.i32 %a, %after
  %t = add.i32 %s, %b
  %one = const.i32 1
  %next = add.i32 %i, %one
  %more = icmp.lt_u.i32 %next, %n
  br_if %more, ^loop(%next, %t), ^done
^done:
  store %t, %o
  ret
}
; check: load %y
; check: ^loop
; check: load %x
; check: load %z
