kernel @relu_fma(%w: f16x2, %b: f16x2, %x: in f16x2, %y: out f16x2) {
^entry:
  %i  = item_id
  %xi = load %x[%i]
  %r  = ffma.relu.f16x2 %w, %xi, %b
  store %r, %y[%i]
  ret
}
