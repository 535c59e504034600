; test: refuse vp1
; Buffers are copied to where the kernel runs, so none is stored to that may overlap another.
kernel @two(%x: in i8x4, %y: inout may_alias i8x4) {
^entry:
  %i = item_id
  %v = load %x[%i]
  store %v, %y[%i]
  ret
}
;= store %v, %y[%i]
;=     vp1 cannot do `store.i8x4`: `%y` may overlap another buffer, but this target copies each buffer separately

kernel @each(%y: inout may_alias i8x4, %z: inout may_alias i8x4) {
^entry:
  %i = item_id
  %v = load %y[%i]
  store %v, %z[%i]
  store %v, %y[%i]
  ret
}
;= store %v, %z[%i]
;=     vp1 cannot do `store.i8x4`: `%z` may overlap another buffer, but this target copies each buffer separately
;= store %v, %y[%i]
;=     vp1 cannot do `store.i8x4`: `%y` may overlap another buffer, but this target copies each buffer separately
