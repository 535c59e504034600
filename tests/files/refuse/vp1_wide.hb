; test: refuse vp1
; A product that may not fit 32 bits is what streams cannot follow; what is shown to fit is taken as it is.
kernel @twice(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %k = const.i32 2
  %j = mul.i32 %i, %k
  %a = load %x[%j wide]
  store %a, %y[%i]
  ret
}
;= %a = load %x[%j wide]
;=     vp1 cannot do `load.i32`: its `wide` index may exceed 2^32 bytes, but streams use 32-bit offsets

kernel @by_parameter(%n: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%n wide]
  store %a, %y[%i]
  ret
}
;= %a = load %x[%n wide]
;=     vp1 cannot do `load.i32`: its `wide` index may exceed 2^32 bytes, but streams use 32-bit offsets

; Not every item makes the access, so that one beyond the buffer need not trap before one that wraps.
kernel @guarded(%x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %bit = and.i32 %i, %one
  %odd = icmp.eq.i32 %bit, %one
  br_if %odd, ^then, ^done
^then:
  %a = load %x[%i]
  store %a, %y[%i wide]
  br ^done
^done:
  ret
}
;= store %a, %y[%i wide]
;=     vp1 cannot do `store.i32`: its `wide` index may exceed 2^32 bytes, but streams use 32-bit offsets
