; test: lower passes=gvn
; Equal ops, in either order.
kernel @equal_ops_in_either_order(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %j = item_id
  %a = load %x[%i]
  %k = const.i8x4 3
  %l = const.i8x4 3
  %b = add.i8x4 %a, %k
  %c = add.i8x4 %l, %a
  %d = sub.i8x4 %b, %c
  %e = sub.i8x4 %c, %a
  store %d, %y[%j]
  store %e, %y[%i]
  ret
}
;= kernel @equal_ops_in_either_order(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i8x4 3
;=   %b = add.i8x4 %a, %k
;=   %d = sub.i8x4 %b, %b
;=   %e = sub.i8x4 %b, %a
;=   store %d, %y[%i]
;=   store %e, %y[%i]
;=   ret
;= }

; Wide constants.
kernel @wide_constants(%x: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i8x16 3
  %l = const.i8x16 3
  %b = add.i8x16 %a, %k
  %c = add.i8x16 %b, %l
  store %c, %y[%i]
  ret
}
;= kernel @wide_constants(%x: in i8x16, %y: out i8x16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i8x16 3
;=   %b = add.i8x16 %a, %k
;=   %c = add.i8x16 %b, %k
;=   store %c, %y[%i]
;=   ret
;= }

; Only what dominates.
kernel @only_what_dominates(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^then, ^else
^then:
  %b = add.i32 %a, %i
  br ^join(%b)
^else:
  %d = add.i32 %i, %a
  %e = add.i32 %a, %i
  %f = mul.i32 %d, %e
  br ^join(%f)
^join(%p: i32):
  %g = add.i32 %a, %i
  %h = mul.i32 %g, %p
  store %h, %y[%i]
  ret
}
;= kernel @only_what_dominates(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.eq.i32 %a, %i
;=   br_if %c, ^then, ^else
;= ^then:
;=   %b = add.i32 %a, %i
;=   br ^join(%b)
;= ^else:
;=   %d = add.i32 %i, %a
;=   %f = mul.i32 %d, %d
;=   br ^join(%f)
;= ^join(%p: i32):
;=   %g = add.i32 %a, %i
;=   %h = mul.i32 %g, %p
;=   store %h, %y[%i]
;=   ret
;= }

; Loads, until a store.
kernel @loads_until_a_store(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i]
  %c = add.i32 %a, %b
  store %c, %y[%i]
  %d = load %x[%i]
  %e = add.i32 %c, %d
  store %e, %y[%i]
  ret
}
;= kernel @loads_until_a_store(%x: in i32, %y: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = add.i32 %a, %a
;=   store %c, %y[%i]
;=   %e = add.i32 %c, %a
;=   store %e, %y[%i]
;=   ret
;= }

; Loads of one state of memory in two blocks.
kernel @loads_of_one_state_of_memory_in_two_blocks(%x: in i32, %y: inout i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^then, ^else
^then:
  %b = load %x[%i]
  store %b, %y[%i]
  br ^join
^else:
  br ^join
^join:
  %d = load %x[%i]
  store %d, %y[%i]
  ret
}
;= kernel @loads_of_one_state_of_memory_in_two_blocks(%x: in i32, %y: inout i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.eq.i32 %a, %i
;=   br_if %c, ^then, ^else
;= ^then:
;=   store %a, %y[%i]
;=   br ^join
;= ^else:
;=   br ^join
;= ^join:
;=   store %a, %y[%i]
;=   ret
;= }

; A parameter that all branches give the same.
kernel @a_parameter_that_all_branches_give_the_same(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^then, ^else
^then:
  %b = add.i32 %a, %i
  br ^join(%b, %a)
^else:
  %d = add.i32 %i, %a
  br ^join(%d, %a)
^join(%p: i32, %q: i32):
  %e = add.i32 %a, %i
  %f = mul.i32 %e, %q
  %g = mul.i32 %f, %p
  store %g, %y[%i]
  ret
}
;= kernel @a_parameter_that_all_branches_give_the_same(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.eq.i32 %a, %i
;=   br_if %c, ^then, ^else
;= ^then:
;=   %b = add.i32 %a, %i
;=   br ^join(%b)
;= ^else:
;=   %d = add.i32 %i, %a
;=   br ^join(%d)
;= ^join(%p: i32):
;=   %f = mul.i32 %p, %a
;=   %g = mul.i32 %f, %p
;=   store %g, %y[%i]
;=   ret
;= }

; A parameter that branches give different values.
kernel @a_parameter_that_branches_give_different_values(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^join(%a, %i), ^join(%i, %a)
^join(%p: i32, %q: i32):
  %f = sub.i32 %p, %q
  store %f, %y[%i]
  ret
}
;= kernel @a_parameter_that_branches_give_different_values(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.eq.i32 %a, %i
;=   br_if %c, ^join(%a, %i), ^join(%i, %a)
;= ^join(%p: i32, %q: i32):
;=   %f = sub.i32 %p, %q
;=   store %f, %y[%i]
;=   ret
;= }

; Two counters that count alike, and a value that goes around unchanged.
kernel @two_counters_that_count_alike_and_a_value_that_goes_around_unchanged(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %zero, %i, %zero)
^loop(%k: i32, %l: i32, %at: i32, %sum: i32):
  %v = load %x[%l]
  %s = add.i32 %sum, %v
  %k1 = add.i32 %k, %one
  %l1 = add.i32 %one, %l
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %l1, %at, %s), ^done
^done:
  store %s, %y[%at]
  ret
}
;= kernel @two_counters_that_count_alike_and_a_value_that_goes_around_unchanged(%x: in i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%zero, %zero)
;= ^loop(%k: i32, %sum: i32):
;=   %v = load %x[%k]
;=   %s = add.i32 %sum, %v
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %s), ^done
;= ^done:
;=   store %s, %y[%i]
;=   ret
;= }

; Counters that begin alike and count differently.
kernel @counters_that_begin_alike_and_count_differently(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  br ^loop(%zero, %zero, %zero)
^loop(%k: i32, %l: i32, %sum: i32):
  %v = load %x[%l]
  %s = add.i32 %sum, %v
  %k1 = add.i32 %k, %one
  %l1 = add.i32 %l, %two
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %l1, %s), ^done
^done:
  store %s, %y[%i]
  ret
}
;= kernel @counters_that_begin_alike_and_count_differently(%x: in i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %two = const.i32 2
;=   br ^loop(%zero, %zero, %zero)
;= ^loop(%k: i32, %l: i32, %sum: i32):
;=   %v = load %x[%l]
;=   %s = add.i32 %sum, %v
;=   %k1 = add.i32 %k, %one
;=   %l1 = add.i32 %l, %two
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %l1, %s), ^done
;= ^done:
;=   store %s, %y[%i]
;=   ret
;= }

; Equal around two loops, but not from one to the other.
kernel @equal_around_two_loops_but_not_from_one_to_the_other(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^outer(%zero, %zero)
^outer(%a: i32, %b: i32):
  %a1 = add.i32 %a, %one
  br ^inner(%a1, %b)
^inner(%c: i32, %d: i32):
  %c1 = add.i32 %c, %one
  %d1 = add.i32 %d, %one
  %more = icmp.lt_u.i32 %c1, %n
  br_if %more, ^inner(%c1, %d1), ^next
^next:
  %again = icmp.lt_u.i32 %d1, %i
  br_if %again, ^outer(%c1, %d1), ^done
^done:
  store %d1, %y[%i]
  ret
}
;= kernel @equal_around_two_loops_but_not_from_one_to_the_other(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^outer(%zero, %zero)
;= ^outer(%a: i32, %b: i32):
;=   %a1 = add.i32 %a, %one
;=   br ^inner(%a1, %b)
;= ^inner(%c: i32, %d: i32):
;=   %c1 = add.i32 %c, %one
;=   %d1 = add.i32 %d, %one
;=   %more = icmp.lt_u.i32 %c1, %n
;=   br_if %more, ^inner(%c1, %d1), ^next
;= ^next:
;=   %again = icmp.lt_u.i32 %d1, %i
;=   br_if %again, ^outer(%c1, %d1), ^done
;= ^done:
;=   store %d1, %y[%i]
;=   ret
;= }

; Two parameters of different blocks.
kernel @two_parameters_of_different_blocks(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.eq.i32 %a, %i
  br_if %c, ^one(%a), ^one(%i)
^one(%p: i32):
  br_if %c, ^two(%a), ^two(%i)
^two(%q: i32):
  %f = sub.i32 %p, %q
  store %f, %y[%i]
  ret
}
;= kernel @two_parameters_of_different_blocks(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.eq.i32 %a, %i
;=   br_if %c, ^one(%a), ^one(%i)
;= ^one(%p: i32):
;=   br_if %c, ^two(%a), ^two(%i)
;= ^two(%q: i32):
;=   %f = sub.i32 %p, %q
;=   store %f, %y[%i]
;=   ret
;= }

; A value that comes an iteration later.
kernel @a_value_that_comes_a_turn_later(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %i, %i)
^loop(%k: i32, %p: i32, %q: i32):
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %q, %one), ^done
^done:
  %r = sub.i32 %p, %q
  store %r, %y[%i]
  ret
}
;= kernel @a_value_that_comes_a_turn_later(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%zero, %i, %i)
;= ^loop(%k: i32, %p: i32, %q: i32):
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1, %q, %one), ^done
;= ^done:
;=   %r = sub.i32 %p, %q
;=   store %r, %y[%i]
;=   ret
;= }

; A store leaves an `in` buffer as it is.
kernel @a_store_leaves_what_is_only_read(%x: in i32, %y: out i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  store %a, %y[%i]
  %b = load %x[%i]
  store %b, %z[%i]
  ret
}
;= kernel @a_store_leaves_what_is_only_read(%x: in i32, %y: out i32, %z: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   store %a, %y[%i]
;=   store %a, %z[%i]
;=   ret
;= }

; It may be another's, which is written.
kernel @a_store_may_reach_what_is_only_read(%x: in i32, %y: inout may_alias i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  store %i, %y[%i]
  %b = load %x[%i]
  %c = add.i32 %a, %b
  store %c, %y[%i + 1]
  ret
}
;= kernel @a_store_may_reach_what_is_only_read(%x: in i32, %y: inout may_alias i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   store %i, %y[%i]
;=   %b = load %x[%i]
;=   %c = add.i32 %a, %b
;=   store %c, %y[%i + 1]
;=   ret
;= }
