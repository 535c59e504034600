kernel @cmul(%a: in f16x2, %b: in f16x2, %c: out f16x2) {
^entry:
  %i     = item_id
  %ai    = load %a[%i]
  %bi    = load %b[%i]
  %re    = shuffle.f16x2 %bi, %bi, [0, 0]
  %im    = shuffle.f16x2 %bi, %bi, [1, 1]
  %minus = fneg.f16x2 %ai
  %ia    = shuffle.f16x2 %minus, %ai, [1, 2]
  %cross = fmul.f16x2 %ia, %im
  %r     = ffma.f16x2 %ai, %re, %cross
  store %r, %c[%i]
  ret
}
