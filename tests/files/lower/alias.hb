; test: lower passes=gvn
; A store by way of another parameter stands between two loads: both stay. Two loads after it are one.
kernel @loads_apart(%x: in i32, %y: inout may_alias i32, %z: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = neg.i32 %a
  store %b, %y[%i]
  %c = load %x[%i]
  %d = load %x[%i]
  %e = add.i32 %c, %d
  %f = add.i32 %a, %e
  store %f, %z[%i]
  ret
}
;= kernel @loads_apart(%x: in i32, %y: inout may_alias i32, %z: out i32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = neg.i32 %a
;=   store %b, %y[%i]
;=   %c = load %x[%i]
;=   %e = add.i32 %c, %c
;=   %f = add.i32 %a, %e
;=   store %f, %z[%i]
;=   ret
;= }

; The same in a loop: what the iteration before has stored may be what is loaded.
kernel @loads_of_a_loop(%x: in may_alias i32, %y: inout may_alias i32, %n: i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  br ^loop(%0)
^loop(%k: i32):
  %a = load %x[%i]
  %b = add.i32 %a, %1
  store %b, %y[%i]
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1), ^done
^done:
  %c = load %x[%i]
  store %c, %y[%i]
  ret
}
;= kernel @loads_of_a_loop(%x: in may_alias i32, %y: inout may_alias i32, %n: i32) {
;= ^entry:
;=   %i = item_id
;=   %0 = const.i32 0
;=   %1 = const.i32 1
;=   br ^loop(%0)
;= ^loop(%k: i32):
;=   %a = load %x[%i]
;=   %b = add.i32 %a, %1
;=   store %b, %y[%i]
;=   %k1 = add.i32 %k, %1
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1), ^done
;= ^done:
;=   %c = load %x[%i]
;=   store %c, %y[%i]
;=   ret
;= }

; test: lower passes=licm
; What is loaded from the same place in every iteration may have been stored by the one before.
kernel @stays_in_the_loop(%x: in i32, %y: inout may_alias i32, %n: i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  br ^loop(%0)
^loop(%k: i32):
  %a = load %x[%i]
  %b = mul.i32 %a, %n
  store %b, %y[%i]
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1), ^done
^done:
  ret
}
;= kernel @stays_in_the_loop(%x: in i32, %y: inout may_alias i32, %n: i32) {
;= ^entry:
;=   %i = item_id
;=   %0 = const.i32 0
;=   %1 = const.i32 1
;=   br ^loop(%0)
;= ^loop(%k: i32):
;=   %a = load %x[%i]
;=   %b = mul.i32 %a, %n
;=   store %b, %y[%i]
;=   %k1 = add.i32 %k, %1
;=   %more = icmp.lt_u.i32 %k1, %n
;=   br_if %more, ^loop(%k1), ^done
;= ^done:
;=   ret
;= }

; test: lower halu passes=widen
; Words in a row, with a store among the loads that may change the last of them.
kernel @words(%x: in i32 align 16, %y: inout may_alias i32 align 16) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  store %v0, %y[%j + 3]
  %v3 = load %x[%j + 3]
  store %v1, %y[%j]
  store %v2, %y[%j + 1]
  store %v3, %y[%j + 2]
  ret
}
;= kernel @words(%x: in i32 align 16, %y: inout may_alias i32 align 16) {
;= ^entry:
;=   %i = item_id
;=   %four = const.i32 4
;=   %j = mul.i32 %i, %four
;=   %0 = load.i64 %x[%j]
;=   %v0 = split.i32 %0, 0
;=   %v1 = split.i32 %0, 1
;=   %v2 = load %x[%j + 2]
;=   store %v0, %y[%j + 3]
;=   %v3 = load %x[%j + 3]
;=   %1 = concat.i64 %v1, %v2
;=   store.i64 %1, %y[%j]
;=   store %v3, %y[%j + 2]
;=   ret
;= }

; Stores in a row with a load among them, which may see the first two and not the others.
kernel @stores(%x: in i32 align 16, %y: inout may_alias i32 align 16, %z: out i32) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  store %i, %y[%j]
  store %i, %y[%j + 1]
  %v = load %x[%j + 2]
  store %i, %y[%j + 2]
  store %i, %y[%j + 3]
  store %v, %z[%i]
  ret
}
;= kernel @stores(%x: in i32 align 16, %y: inout may_alias i32 align 16, %z: out i32) {
;= ^entry:
;=   %i = item_id
;=   %four = const.i32 4
;=   %j = mul.i32 %i, %four
;=   %0 = concat.i64 %i, %i
;=   store.i64 %0, %y[%j]
;=   %v = load %x[%j + 2]
;=   %1 = concat.i64 %i, %i
;=   store.i64 %1, %y[%j + 2]
;=   store %v, %z[%i]
;=   ret
;= }

; test: lower halu passes=slp
; The second half may be what was stored first: two lanes are not computed at once.
kernel @halves(%x: in f16 align 4, %y: inout may_alias f16 align 4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = mul.i32 %i, %two
  %x0 = load %x[%j]
  %r0 = fadd.f16 %x0, %x0
  store %r0, %y[%j]
  %x1 = load %x[%j + 1]
  %r1 = fadd.f16 %x1, %x1
  store %r1, %y[%j + 1]
  ret
}
;= kernel @halves(%x: in f16 align 4, %y: inout may_alias f16 align 4) {
;= ^entry:
;=   %i = item_id
;=   %two = const.i32 2
;=   %j = mul.i32 %i, %two
;=   %x0 = load %x[%j]
;=   %r0 = fadd.f16 %x0, %x0
;=   store %r0, %y[%j]
;=   %x1 = load %x[%j + 1]
;=   %r1 = fadd.f16 %x1, %x1
;=   store %r1, %y[%j + 1]
;=   ret
;= }

; Where all loads come before the stores they are.
kernel @halves_at_once(%x: in f16 align 4, %y: inout may_alias f16 align 4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = mul.i32 %i, %two
  %x0 = load %x[%j]
  %x1 = load %x[%j + 1]
  %r0 = fadd.f16 %x0, %x0
  %r1 = fadd.f16 %x1, %x1
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  ret
}
;= kernel @halves_at_once(%x: in f16 align 4, %y: inout may_alias f16 align 4) {
;= ^entry:
;=   %i = item_id
;=   %two = const.i32 2
;=   %j = mul.i32 %i, %two
;=   %0 = load.f16x2 %x[%j]
;=   %1 = fadd.f16x2 %0, %0
;=   store.f16x2 %1, %y[%j]
;=   ret
;= }

; test: lower halu
; All passes: a loop that is unrolled keeps the order of its accesses.
kernel @unrolled(%x: in i8, %y: inout may_alias i8 align 4) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %four = const.i32 4
  %j = mul.i32 %i, %four
  br ^loop(%0)
^loop(%k: i32):
  %at = add.i32 %j, %k
  %a = load %x[%at]
  %b = neg.i8 %a
  store %b, %y[%at]
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %four
  br_if %more, ^loop(%k1), ^done
^done:
  ret
}
;= kernel @unrolled(%x: in i8, %y: inout may_alias i8 align 4) {
;= ^entry:
;=   %i = item_id
;=   %1 = const.i32 1
;=   %four = const.i32 4
;=   %j = mul.i32 %i, %four
;=   %0 = load %x[%j]
;=   %2 = neg.i8 %0
;=   store %2, %y[%j]
;=   %3 = add.i32 %j, %1
;=   %4 = load %x[%3]
;=   %5 = neg.i8 %4
;=   store %5, %y[%3]
;=   %6 = const.i32 2
;=   %7 = add.i32 %j, %6
;=   %8 = load %x[%7]
;=   %9 = neg.i8 %8
;=   store %9, %y[%7]
;=   %10 = const.i32 3
;=   %at = add.i32 %j, %10
;=   %a = load %x[%at]
;=   %b = neg.i8 %a
;=   store %b, %y[%at]
;=   ret
;= }
