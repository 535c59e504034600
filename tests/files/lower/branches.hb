; test: lower halu
; Branches and loops: what is the same whichever way one comes, what is selected, and what leaves a loop.

; Two counters that count alike are one.
kernel @counters(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  br ^loop(%zero, %zero, %zero)                 ; check: br ^loop(%zero, %zero)
^loop(%k: i32, %l: i32, %sum: i32):             ; check: ^loop(%k: i32, %sum: i32):
  %v = load %x[%l]                              ; next: load %x[%k]
  %s = add.i32 %sum, %v
  %k1 = add.i32 %k, %one
  %l1 = add.i32 %l, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %l1, %s), ^done
^done:
  store %s, %y[%i]
  ret
}

; Those that count differently stay two.
kernel @strides(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  br ^loop(%zero, %zero, %zero)
^loop(%k: i32, %l: i32, %sum: i32):             ; check: ^loop(%k: i32, %l: i32, %sum: i32):
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

; A way that does little is done for all, and its result selected; what algebra then sees is a minimum.
kernel @least(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %c = icmp.lt_s.i32 %v, %n
  br_if %c, ^join(%v), ^join(%n)
^join(%r: i32):
  store %r, %y[%i]
  ret
}
;= kernel @least(%x: in i32, %n: i32, %y: out i32) {
;= ^entry:
;=   %i = item_id
;=   %v = load %x[%i]
;=   %0 = icmp.lt_s.i32 %v, %n
;=   %r = select.i32 %0, %v, %n
;=   store %r, %y[%i]
;=   ret
;= }
; rule: select_min_s

; One that loads is not: what is not reached must not trap.
kernel @guarded(%x: in i32, %n: i32, %y: out i32) {
^entry:
  %i = item_id
  %c = icmp.lt_u.i32 %i, %n
  %zero = const.i32 0
  br_if %c, ^inside, ^join(%zero)               ; check: br_if %c, ^inside, ^join(%zero)
^inside:
  %v = load %x[%i]
  br ^join(%v)
^join(%r: i32):
  store %r, %y[%i]
  ret
}
; never: select

; What does not change in a loop is computed before it, and what it is loaded from is loaded in it.
kernel @scaled(%x: in i32, %n: i32, %a: i32, %y: out i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):                      ; check: %base = mul.i32 %i, %n
  %base = mul.i32 %i, %n                        ; check: ^loop
  %at = add.i32 %base, %k
  %v = load %x[%at]                             ; check: load %x
  %t = mul.i32 %v, %a
  %s = add.i32 %sum, %t
  %one = const.i32 1
  %k1 = add.i32 %k, %one
  %more = icmp.lt_u.i32 %k1, %n
  br_if %more, ^loop(%k1, %s), ^done
^done:
  store %s, %y[%i]
  ret
}
