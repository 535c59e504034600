; test: refuse vp1
; VP1 has no floating point, of 64 bits neither.
kernel @sum(%x: in f64, %y: in f64, %o: out f64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fadd.f64 %a, %b
  store %r, %o[%i]
  ret
}
;= %a = load %x[%i]
;=     vp1 cannot do `load.f64`: VP1 has no floating-point arithmetic
;= %b = load %y[%i]
;=     vp1 cannot do `load.f64`: VP1 has no floating-point arithmetic
;= %r = fadd.f64 %a, %b
;=     vp1 cannot do `fadd.f64`: VP1 has no floating-point arithmetic
;= store %r, %o[%i]
;=     vp1 cannot do `store.f64`: VP1 has no floating-point arithmetic

; A parameter that is read.
kernel @scalar(%s: f64, %o: out i8) {
^entry:
  %i = item_id
  %a = fcvt_to_s.i32 %s
  %r = trunc.i8 %a
  store %r, %o[%i]
  ret
}
;= %a = fcvt_to_s.i32 %s
;=     vp1 cannot do `fcvt_to_s.i32`: VP1 has no floating-point arithmetic
