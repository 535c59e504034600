; test: refuse halu
; Everything that the target cannot do is said at once, each at its place.
kernel @refused(%x: in bf16x2, %v: in i8x16, %y: out bf16x2, %w: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fadd.ftz.bf16x2 %a, %a
  store %r, %y[%i]
  %b = load %v[%i]
  %s = swizzle.i8x16 %b, %b
  store %s, %w[%i]
  ret
}
;= %r = fadd.ftz.bf16x2 %a, %a
;=     halu cannot do `fadd.bf16x2`: bf16 arithmetic has no `ftz`
