; test: lower passes=unroll
; A test after the body.
kernel @a_test_behind_the_body(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %three = const.i32 3
  br ^loop(%zero, %i)
^loop(%k: i32, %s: i32):
  %v = load %x[%k]
  %t = add.i32 %s, %v
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %three
  br_if %more, ^loop(%k1, %t), ^done(%t)
^done(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @a_test_behind_the_body(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %three = const.i32 3
;=   br ^0
;= ^0:
;=   %0 = load %x[%zero]
;=   %1 = add.i32 %i, %0
;=   %2 = const.i32 1
;=   %3 = const.i1 1
;=   br ^1
;= ^1:
;=   %4 = load %x[%2]
;=   %5 = add.i32 %1, %4
;=   %6 = const.i32 2
;=   %7 = const.i1 1
;=   br ^loop
;= ^loop:
;=   %v = load %x[%6]
;=   %t = add.i32 %5, %v
;=   %k1 = const.i32 3
;=   %more = const.i1 0
;=   br ^done(%t)
;= ^done(%r: i32):
;=   store %r, %y[%i]
;=   ret
;= }

; A test before the body, a branch in it, and two ways into it; what is used after the loop is its last iteration's.
kernel @a_test_before_the_body_a_branch_in_it_and_two_ways_into_it_what_is_used_behind_the_loop_is_its_last_turn_s(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  %low = icmp.lt_u.i32 %i, %n
  br_if %low, ^loop(%two, %i), ^loop(%two, %n)
^loop(%k: i32, %s: i32):
  %u = mul.i32 %s, %n
  %more = icmp.ne.i32 %k, %zero
  br_if %more, ^body, ^done
^body:
  %odd = icmp.eq.i32 %u, %k
  br_if %odd, ^other, ^next(%u)
^other:
  %v = sub.i32 %u, %i
  br ^next(%v)
^next(%w: i32):
  %k1 = sub.i32 %k, %one
  br ^loop(%k1, %w)
^done:
  store %u, %y[%i]
  ret
}
;= kernel @a_test_before_the_body_a_branch_in_it_and_two_ways_into_it_what_is_used_behind_the_loop_is_its_last_turn_s(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %two = const.i32 2
;=   %low = icmp.lt_u.i32 %i, %n
;=   br_if %low, ^0(%two, %i), ^0(%two, %n)
;= ^0(%0: i32, %1: i32):
;=   %2 = mul.i32 %1, %n
;=   %3 = const.i1 1
;=   br ^1
;= ^1:
;=   %4 = icmp.eq.i32 %2, %0
;=   br_if %4, ^2, ^3(%2)
;= ^2:
;=   %5 = sub.i32 %2, %i
;=   br ^3(%5)
;= ^3(%6: i32):
;=   %7 = const.i32 1
;=   br ^4
;= ^4:
;=   %8 = mul.i32 %6, %n
;=   %9 = const.i1 1
;=   br ^5
;= ^5:
;=   %10 = icmp.eq.i32 %8, %7
;=   br_if %10, ^6, ^7(%8)
;= ^6:
;=   %11 = sub.i32 %8, %i
;=   br ^7(%11)
;= ^7(%12: i32):
;=   %13 = const.i32 0
;=   br ^loop
;= ^loop:
;=   %u = mul.i32 %12, %n
;=   %more = const.i1 0
;=   br ^done
;= ^done:
;=   store %u, %y[%i]
;=   ret
;= }

; One iteration, and none.
kernel @one_turn_and_none(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^once(%zero, %n)
^once(%k: i32, %s: i32):
  %v = load %x[%k]
  %t = add.i32 %s, %v
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %one
  br_if %more, ^once(%k1, %t), ^never(%zero, %t)
^never(%l: i32, %r: i32):
  %any = icmp.lt_u.i32 %one, %l
  br_if %any, ^body, ^done
^body:
  %w = load %x[%l]
  %q = mul.i32 %r, %w
  br ^never(%l, %q)
^done:
  store %r, %y[%i]
  ret
}
;= kernel @one_turn_and_none(%n: i32, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^once
;= ^once:
;=   %v = load %x[%zero]
;=   %t = add.i32 %n, %v
;=   %k1 = const.i32 1
;=   %more = const.i1 0
;=   br ^never
;= ^never:
;=   %any = const.i1 0
;=   br ^done
;= ^done:
;=   store %t, %y[%i]
;=   ret
;= }

; A loop in a loop.
kernel @a_loop_in_a_loop(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  br ^outer(%zero, %i)
^outer(%k: i32, %s: i32):
  br ^inner(%zero, %s)
^inner(%l: i32, %t: i32):
  %u = mul.i32 %t, %n
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %l1, %two
  br_if %more, ^inner(%l1, %u), ^next
^next:
  %k1 = add.i32 %k, %one
  %v = xor.i32 %u, %k1
  %again = icmp.lt_u.i32 %k1, %two
  br_if %again, ^outer(%k1, %v), ^done
^done:
  store %v, %y[%i]
  ret
}
;= kernel @a_loop_in_a_loop(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %two = const.i32 2
;=   br ^0
;= ^0:
;=   br ^1
;= ^1:
;=   %0 = mul.i32 %i, %n
;=   %1 = const.i32 1
;=   %2 = const.i1 1
;=   br ^2
;= ^2:
;=   %3 = mul.i32 %0, %n
;=   %4 = const.i32 2
;=   %5 = const.i1 0
;=   br ^3
;= ^3:
;=   %6 = const.i32 1
;=   %7 = xor.i32 %3, %6
;=   %8 = const.i1 1
;=   br ^outer
;= ^outer:
;=   br ^4
;= ^4:
;=   %9 = mul.i32 %7, %n
;=   %10 = const.i32 1
;=   %11 = const.i1 1
;=   br ^inner
;= ^inner:
;=   %u = mul.i32 %9, %n
;=   %l1 = const.i32 2
;=   %more = const.i1 0
;=   br ^next
;= ^next:
;=   %k1 = const.i32 2
;=   %v = xor.i32 %u, %k1
;=   %again = const.i1 0
;=   br ^done
;= ^done:
;=   store %v, %y[%i]
;=   ret
;= }

; As many iterations as an argument says, too many, and two ways out.
kernel @as_many_turns_as_an_argument_says_too_many_and_two_ways_out(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %nine = const.i32 9
  %many = const.i32 65
  br ^argument(%zero, %i)
^argument(%k: i32, %s: i32):
  %t = mul.i32 %s, %i
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^argument(%k1, %t), ^long(%zero, %t)
^long(%l: i32, %u: i32):
  %v = sub.i32 %i, %u
  %l1 = add.i32 %l, %one
  %some = icmp.ne.i32 %l1, %many
  br_if %some, ^long(%l1, %v), ^large(%zero, %v)
^large(%m: i32, %a: i32):
  %b = sub.i32 %i, %a
  %c = mul.i32 %b, %b
  %d = sub.i32 %c, %a
  %e = mul.i32 %d, %d
  %f = sub.i32 %e, %a
  %g = mul.i32 %f, %f
  %h = sub.i32 %g, %a
  %j = mul.i32 %h, %h
  %m1 = add.i32 %m, %one
  %few = icmp.lt_s.i32 %m1, %nine
  br_if %few, ^large(%m1, %j), ^two(%zero, %j)
^two(%o: i32, %w: i32):
  %p = load %x[%o]
  %is = icmp.eq.i32 %p, %zero
  br_if %is, ^done(%w), ^go
^go:
  %w1 = mul.i32 %w, %p
  %o1 = add.i32 %o, %one
  %on = icmp.lt_u.i32 %o1, %nine
  br_if %on, ^two(%o1, %w1), ^done(%w1)
^done(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @as_many_turns_as_an_argument_says_too_many_and_two_ways_out(%n: i32, %x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %nine = const.i32 9
;=   %many = const.i32 65
;=   br ^argument(%zero, %i)
;= ^argument(%k: i32, %s: i32):
;=   %t = mul.i32 %s, %i
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^argument(%k1, %t), ^long(%zero, %t)
;= ^long(%l: i32, %u: i32):
;=   %v = sub.i32 %i, %u
;=   %l1 = add.i32 %l, %one
;=   %some = icmp.ne.i32 %l1, %many
;=   br_if %some, ^long(%l1, %v), ^large(%zero, %v)
;= ^large(%m: i32, %a: i32):
;=   %b = sub.i32 %i, %a
;=   %c = mul.i32 %b, %b
;=   %d = sub.i32 %c, %a
;=   %e = mul.i32 %d, %d
;=   %f = sub.i32 %e, %a
;=   %g = mul.i32 %f, %f
;=   %h = sub.i32 %g, %a
;=   %j = mul.i32 %h, %h
;=   %m1 = add.i32 %m, %one
;=   %few = icmp.lt_s.i32 %m1, %nine
;=   br_if %few, ^large(%m1, %j), ^two(%zero, %j)
;= ^two(%o: i32, %w: i32):
;=   %p = load %x[%o]
;=   %is = icmp.eq.i32 %p, %zero
;=   br_if %is, ^done(%w), ^go
;= ^go:
;=   %w1 = mul.i32 %w, %p
;=   %o1 = add.i32 %o, %one
;=   %on = icmp.lt_u.i32 %o1, %nine
;=   br_if %on, ^two(%o1, %w1), ^done(%w1)
;= ^done(%r: i32):
;=   store %r, %y[%i]
;=   ret
;= }

; test: lower passes=fold,unroll
; What nothing reaches goes to what only earlier iterations did.
kernel @what_nothing_reaches_goes_to_what_only_earlier_turns_did(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %yes = const.i1 1
  br ^loop(%zero, %i)
^loop(%k: i32, %s: i32):
  %more = icmp.lt_u.i32 %k, %one
  br_if %more, ^body, ^done
^body:
  %t = mul.i32 %s, %n
  br_if %yes, ^next(%t), ^never
^never:
  %u = sub.i32 %t, %n
  br ^next(%u)
^next(%v: i32):
  %k1 = add.i32 %k, %one
  br ^loop(%k1, %v)
^done:
  store %s, %y[%i]
  ret
}
;= kernel @what_nothing_reaches_goes_to_what_only_earlier_turns_did(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   %yes = const.i1 1
;=   br ^0
;= ^0:
;=   %0 = const.i1 1
;=   br ^1
;= ^1:
;=   %1 = mul.i32 %i, %n
;=   br ^2(%1)
;= ^2(%2: i32):
;=   %3 = const.i32 1
;=   br ^loop
;= ^loop:
;=   %more = const.i1 0
;=   br ^done
;= ^done:
;=   store %2, %y[%i]
;=   ret
;= }
