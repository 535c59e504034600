kernel @twice(%x: inout f16) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %r = fadd.f16 %v, %v
  store %r, %x[%i]
  ret
}
; run: halu: @twice items=2 x=[1.0, 1.5] -> x=[2.0, 3.0]
