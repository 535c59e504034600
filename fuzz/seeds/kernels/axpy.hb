kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
^entry:
  %i  = item_id
  %xi = load %x[%i]
  %yi = load %y[%i]
  %r  = ffma.f16x2 %a, %xi, %yi
  store %r, %y[%i]
  ret
}
