; test: refuse vp1
; What VP1 cannot do, with the reason: addresses that are known only when the kernel runs.
kernel @table(%t: in i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = load %t[%a] align 1
  store %r, %y[%i]
  ret
}
;= %r = load %t[%a] align 1
;=     vp1 cannot do `load.i32`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on `load.i32` (`%a`), and it may be unaligned in the data store

kernel @long(%x: in i8x4, %n: in i32, %y: out i8x4) {
^entry:
  %i = item_id
  %n0 = load %n[%i]
  %0 = const.i32 0
  br ^loop(%0)
^loop(%k: i32):
  %a = load %x[%k]
  store %a, %y[%i]
  %1 = const.i32 1
  %k1 = add.i32 %k, %1
  %c = icmp.lt_u.i32 %k1, %n0
  br_if %c, ^loop(%k1), ^done
^done:
  ret
}
;= %a = load %x[%k]
;=     vp1 cannot do `load.i8x4`: the trip count of an enclosing loop is not known at launch
;= store %a, %y[%i]
;=     vp1 cannot do `store.i8x4`: the trip count of an enclosing loop is not known at launch
