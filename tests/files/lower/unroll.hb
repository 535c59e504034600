; test: lower halu
; A loop of four iterations is written down in order, and nothing is left of its counter.
kernel @sum(%x: in i32 align 16, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %4 = const.i32 4
  %first = mul.i32 %i, %4
  br ^loop(%0, %0)
^loop(%k: i32, %s: i32):
  %at = add.i32 %first, %k
  %v = load %x[%at]
  %s1 = add.i32 %s, %v
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %4
  br_if %more, ^loop(%k1, %s1), ^done
^done:
  store %s1, %y[%i]
  ret
}
; run: halu: @sum items=3 x=[1, 2, 3, 4, 10, 20, 30, 40, -1, -2, -3, -4] -> y=[10, 100, -10]
;= kernel @sum(%x: in i32 align 16, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %1 = const.i32 1
;=   %4 = const.i32 4
;=   %first = mul.i32 %i, %4
;=   %0 = load %x[%first]
;=   %2 = add.i32 %first, %1
;=   %3 = load %x[%2]
;=   %5 = add.i32 %0, %3
;=   %6 = const.i32 2
;=   %7 = add.i32 %first, %6
;=   %8 = load %x[%7]
;=   %9 = add.i32 %5, %8
;=   %10 = const.i32 3
;=   %at = add.i32 %first, %10
;=   %v = load %x[%at]
;=   %s1 = add.i32 %9, %v
;=   store %s1, %y[%i]
;=   ret
;= }

; A counter that goes down, a test in front of the body, a loop in a loop.
kernel @nest(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %2 = const.i32 2
  br ^outer(%2, %i)
^outer(%k: i32, %s: i32):
  %some = icmp.gt_s.i32 %k, %0
  br_if %some, ^body, ^done
^body:
  br ^inner(%0, %s)
^inner(%l: i32, %t: i32):
  %u = mul.i32 %t, %n
  %l1 = add.i32 %l, %1
  %again = icmp.ne.i32 %l1, %2
  br_if %again, ^inner(%l1, %u), ^next
^next:
  %v = xor.i32 %u, %k
  %k1 = sub.i32 %k, %1
  br ^outer(%k1, %v)
^done:
  store %s, %y[%i]
  ret
}
; run: halu, vp1: @nest items=3 n=3 -> y=[19, 98, 145]
;= kernel @nest(%n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %1 = const.i32 1
;=   %2 = const.i32 2
;=   %0 = mul.i32 %i, %n
;=   %3 = mul.i32 %0, %n
;=   %4 = xor.i32 %3, %2
;=   %5 = mul.i32 %4, %n
;=   %6 = mul.i32 %5, %n
;=   %7 = xor.i32 %6, %1
;=   store %7, %y[%i]
;=   ret
;= }

; As many iterations as an argument says: it stays a loop.
kernel @argument(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  br ^loop(%0, %0)
^loop(%k: i32, %s: i32):
  %v = load %x[%k]
  %s1 = add.i32 %s, %v
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %s1), ^done
^done:
  store %s1, %y[%i]
  ret
}
; check: br_if %more, ^loop

; Two instructions in 32 iterations are as many as may be; in 33 they stay a loop.
kernel @most(%n: i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %32 = const.i32 32
  %33 = const.i32 33
  br ^a(%0, %i)
^a(%k: i32, %s: i32):
  %s1 = mul.i32 %s, %n
  %s2 = xor.i32 %s1, %i
  %k1 = add.i32 %k, %1
  %more = icmp.lt_u.i32 %k1, %32
  br_if %more, ^a(%k1, %s2), ^b(%0, %s2)
^b(%l: i32, %t: i32):
  %t1 = mul.i32 %t, %n
  %t2 = xor.i32 %t1, %i
  %l1 = add.i32 %l, %1
  %again = icmp.lt_u.i32 %l1, %33
  br_if %again, ^b(%l1, %t2), ^done
^done:
  store %t2, %y[%i]
  ret
}
; never: br_if %more
; check: br_if %again

; test: lower vp1
; Where items share vectors, a loop with accesses stays, and its loads are one stream.
kernel @stream(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %4 = const.i32 4
  %zero = const.i8x4 0
  br ^loop(%0, %zero)
^loop(%k: i32, %most: i8x4):
  %at = add.i32 %i, %k
  %a = load %x[%at]
  %next = max_u.i8x4 %most, %a
  %k1 = add.i32 %k, %1
  %more = icmp.lt_s.i32 %k1, %4
  br_if %more, ^loop(%k1, %next), ^done
^done:
  store %next, %y[%i]
  ret
}
; check: br_if %more, ^loop

; One without does not.
kernel @squares(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %3 = const.i32 3
  %v = load %x[%i]
  br ^loop(%0, %v)
^loop(%k: i32, %s: i8x4):
  %t = avg_u.i8x4 %s, %v
  %u = sub_sat_u.i8x4 %t, %s
  %k1 = add.i32 %k, %1
  %more = icmp.lt_s.i32 %k1, %3
  br_if %more, ^loop(%k1, %u), ^done
^done:
  store %u, %y[%i]
  ret
}
; never: br_if
; never: ^loop

; What a loop leaves after is used in a loop after it, which is unrolled too: it is what it was in the first loop's last
; iteration.
kernel @carried(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %2 = const.i32 2
  %v = load %x[%i]
  br ^first(%0, %0)
^first(%k: i32, %last: i32):
  %k1 = add.i32 %k, %1
  %more = icmp.lt_s.i32 %k1, %2
  br_if %more, ^first(%k1, %v), ^between
^between:
  br ^second(%2, %v)
^second(%n: i32, %w: i32):
  %on = icmp.gt_s.i32 %n, %0
  br_if %on, ^turn, ^done
^turn:
  br ^second(%0, %last)
^done:
  store %w, %y[%i]
  ret
}
; check: store %v
; run: halu: @carried items=2 x=[7, 9] -> y=[7, 9]
