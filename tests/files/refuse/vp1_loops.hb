; test: refuse vp1
; Loops whose trips are not known when the kernel is launched.

; The bound is read from memory.
kernel @bound_in_memory(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %v = load %t[%i]
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero)
^loop(%k: i32):
  %a = load %x[%k]
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %v
  br_if %c, ^loop(%k2), ^done
^done:
  store %a, %y[%i]
  ret
}
;= %a = load %x[%k]
;=     vp1 cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch

; By steps that a parameter says.
kernel @step_of_a_parameter(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero)
^loop(%k: i32):
  %a = load %x[%k]
  %k2 = add.i32 %k, %n
  %c = icmp.lt_s.i32 %k2, %w
  br_if %c, ^loop(%k2), ^done
^done:
  store %a, %y[%i]
  ret
}
;= %a = load %x[%k]
;=     vp1 cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch

; Until what it loads is something.
kernel @until_found(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero)
^loop(%k: i32):
  %a = load %x[%k]
  %k2 = add.i32 %k, %one
  %s = reduce_add_u.i8x4 %a
  %c = icmp.lt_s.i32 %s, %n
  br_if %c, ^loop(%k2), ^done
^done:
  store %a, %y[%i]
  ret
}
;= %a = load %x[%k]
;=     vp1 cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch

; How often a loop was taken is no part of an address after it.
kernel @counter_behind(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero)
^loop(%k: i32):
  %k2 = add.i32 %k, %one
  %c = icmp.lt_s.i32 %k2, %n
  br_if %c, ^loop(%k2), ^done
^done:
  %a = load %x[%k2] align 1
  store %a, %y[%i]
  ret
}
;= %a = load %x[%k2] align 1
;=     vp1 cannot do `load.i8x4`: its index depends on the final counter of an earlier loop, and it may be unaligned in the data store

kernel @endless(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %c = icmp.eq.i32 %n, %w
  br_if %c, ^a, ^b
^a:
  br ^a
^b:
  ret
}
;= ^a
;=     vp1 cannot do this: the loop has no exit

kernel @entered_twice(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %c = icmp.eq.i32 %n, %w
  br_if %c, ^a, ^b
^a:
  br ^b
^b:
  %d = icmp.eq.i32 %n, %i
  br_if %d, ^a, ^c
^c:
  ret
}
;= ^a
;=     vp1 cannot do this: the loop has several entries (irreducible control flow)
