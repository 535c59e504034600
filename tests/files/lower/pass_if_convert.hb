; test: lower passes=if_convert
; A diamond, with parameters of its ways.
kernel @a_diamond_with_parameters_of_its_ways(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i32 3
  %c = icmp.lt_s.i32 %a, %k
  br_if %c, ^then(%i), ^else
^then(%p: i32):
  %b = add.i32 %a, %p
  br ^join(%b, %p, %a)
^else:
  %d = sub.i32 %a, %i
  br ^join(%d, %i, %k)
^join(%r: i32, %s: i32, %t: i32):
  %u = mul.i32 %r, %s
  %v = xor.i32 %u, %t
  store %v, %y[%i]
  ret
}
;= kernel @a_diamond_with_parameters_of_its_ways(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %k = const.i32 3
;=   %c = icmp.lt_s.i32 %a, %k
;=   %b = add.i32 %a, %i
;=   %d = sub.i32 %a, %i
;=   %r = select.i32 %c, %b, %d
;=   %t = select.i32 %c, %a, %k
;=   %u = mul.i32 %r, %i
;=   %v = xor.i32 %u, %t
;=   store %v, %y[%i]
;=   ret
;= }

; A triangle either way round, and one branch to one block.
kernel @a_triangle_either_way_round_and_one_branch_to_one_block(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.lt_s.i32 %a, %i
  br_if %c, ^then, ^join(%a)
^then:
  %b = neg.i32 %a
  br ^join(%b)
^join(%r: i32):
  %d = icmp.lt_u.i32 %a, %i
  br_if %d, ^meet(%r), ^else
^else:
  %e = not.i32 %r
  br ^meet(%e)
^meet(%f: i32):
  br_if %c, ^last(%f), ^last(%a)
^last(%g: i32):
  store %g, %y[%i]
  ret
}
;= kernel @a_triangle_either_way_round_and_one_branch_to_one_block(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.lt_s.i32 %a, %i
;=   %b = neg.i32 %a
;=   %r = select.i32 %c, %b, %a
;=   %d = icmp.lt_u.i32 %a, %i
;=   %e = not.i32 %r
;=   %f = select.i32 %d, %r, %e
;=   %g = select.i32 %c, %f, %a
;=   store %g, %y[%i]
;=   ret
;= }

; One in another.
kernel @one_in_another(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.lt_s.i32 %a, %i
  %d = icmp.eq.i32 %a, %i
  br_if %c, ^then, ^join(%a)
^then:
  %b = neg.i32 %a
  br_if %d, ^inner, ^meet(%b)
^inner:
  %e = add.i32 %b, %i
  br ^meet(%e)
^meet(%m: i32):
  br ^join(%m)
^join(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @one_in_another(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.lt_s.i32 %a, %i
;=   %d = icmp.eq.i32 %a, %i
;=   %b = neg.i32 %a
;=   %e = add.i32 %b, %i
;=   %m = select.i32 %d, %e, %b
;=   %r = select.i32 %c, %m, %a
;=   store %r, %y[%i]
;=   ret
;= }

; In a loop, whose end is where the ways meet.
kernel @in_a_loop_whose_end_is_where_the_ways_meet(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %i)
^loop(%k: i32, %s: i32):
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^body, ^done
^body:
  %odd = icmp.lt_s.i32 %s, %n
  br_if %odd, ^up, ^down
^up:
  %u = add.i32 %s, %n
  br ^loop(%k1, %u)
^down:
  %d = sub.i32 %s, %i
  br ^loop(%k1, %d)
^done:
  store %s, %y[%i]
  ret
}
;= kernel @in_a_loop_whose_end_is_where_the_ways_meet(%x: in i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %zero = const.i32 0
;=   %one = const.i32 1
;=   br ^loop(%zero, %i)
;= ^loop(%k: i32, %s: i32):
;=   %k1 = add.i32 %k, %one
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^body, ^done
;= ^body:
;=   %odd = icmp.lt_s.i32 %s, %n
;=   %u = add.i32 %s, %n
;=   %d = sub.i32 %s, %i
;=   %0 = select.i32 %odd, %u, %d
;=   br ^loop(%k1, %0)
;= ^done:
;=   store %s, %y[%i]
;=   ret
;= }

; test: lower passes=if_convert without=mul.i32
; Loads, stores, divisions, what the target lacks and what is long stays.
kernel @loads_stores_divisions_what_the_target_lacks_and_what_is_long_stays(%x: in i32, %f: in f32, %y: inout i32, %g: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.lt_s.i32 %a, %i
  br_if %c, ^then, ^join(%a)
^then:
  %b = load %y[%i]
  br ^join(%b)
^join(%r: i32):
  br_if %c, ^store, ^stored
^store:
  store %r, %y[%i]
  br ^stored
^stored:
  %q = load %f[%i]
  br_if %c, ^div, ^divided(%q)
^div:
  %d = fdiv.f32 %q, %q
  br ^divided(%d)
^divided(%e: f32):
  store %e, %g[%i]
  br_if %c, ^mul, ^multiplied(%a)
^mul:
  %m = mul.i32 %a, %i
  br ^multiplied(%m)
^multiplied(%n: i32):
  br_if %c, ^left, ^right
^left:
  %l1 = add.i32 %n, %i
  %l2 = xor.i32 %l1, %a
  %l3 = sub.i32 %l2, %i
  %l4 = neg.i32 %l3
  br ^last(%l4)
^right:
  %r1 = sub.i32 %n, %i
  %r2 = and.i32 %r1, %a
  %r3 = sub.i32 %r2, %a
  %r4 = not.i32 %r3
  br ^last(%r4)
^last(%z: i32):
  store %z, %y[%i]
  ret
}
;= kernel @loads_stores_divisions_what_the_target_lacks_and_what_is_long_stays(%x: in i32, %f: in f32, %y: inout i32, %g: out f32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.lt_s.i32 %a, %i
;=   br_if %c, ^then, ^join(%a)
;= ^then:
;=   %b = load %y[%i]
;=   br ^join(%b)
;= ^join(%r: i32):
;=   br_if %c, ^store, ^stored
;= ^store:
;=   store %r, %y[%i]
;=   br ^stored
;= ^stored:
;=   %q = load %f[%i]
;=   br_if %c, ^div, ^divided(%q)
;= ^div:
;=   %d = fdiv.f32 %q, %q
;=   br ^divided(%d)
;= ^divided(%e: f32):
;=   store %e, %g[%i]
;=   br_if %c, ^mul, ^multiplied(%a)
;= ^mul:
;=   %m = mul.i32 %a, %i
;=   br ^multiplied(%m)
;= ^multiplied(%n: i32):
;=   br_if %c, ^left, ^right
;= ^left:
;=   %l1 = add.i32 %n, %i
;=   %l2 = xor.i32 %l1, %a
;=   %l3 = sub.i32 %l2, %i
;=   %l4 = neg.i32 %l3
;=   br ^last(%l4)
;= ^right:
;=   %r1 = sub.i32 %n, %i
;=   %r2 = and.i32 %r1, %a
;=   %r3 = sub.i32 %r2, %a
;=   %r4 = not.i32 %r3
;=   br ^last(%r4)
;= ^last(%z: i32):
;=   store %z, %y[%i]
;=   ret
;= }

; test: lower passes=if_convert
; A way that is gone to from elsewhere stays.
kernel @a_way_that_is_gone_to_from_elsewhere_stays(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  switch %a, ^one, [1: ^then]
^one:
  %c = icmp.lt_s.i32 %a, %i
  br_if %c, ^then, ^else
^then:
  %b = neg.i32 %a
  br ^join(%b)
^else:
  %d = not.i32 %a
  br ^join(%d)
^join(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @a_way_that_is_gone_to_from_elsewhere_stays(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   switch %a, ^one, [1: ^then]
;= ^one:
;=   %c = icmp.lt_s.i32 %a, %i
;=   br_if %c, ^then, ^else
;= ^then:
;=   %b = neg.i32 %a
;=   br ^join(%b)
;= ^else:
;=   %d = not.i32 %a
;=   br ^join(%d)
;= ^join(%r: i32):
;=   store %r, %y[%i]
;=   ret
;= }

; What nothing reaches goes to a block that is gone.
kernel @what_nothing_reaches_goes_to_a_block_that_is_gone(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %c = icmp.lt_s.i32 %a, %i
  br_if %c, ^then, ^join(%a)
^never:
  br ^then
^then:
  %b = neg.i32 %a
  br ^join(%b)
^join(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @what_nothing_reaches_goes_to_a_block_that_is_gone(%x: in i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %c = icmp.lt_s.i32 %a, %i
;=   %b = neg.i32 %a
;=   %r = select.i32 %c, %b, %a
;=   store %r, %y[%i]
;=   ret
;= }
