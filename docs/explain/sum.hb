; r[i] = c[i] + a[i] * b[i], the product second, and stored too: p[i] = a[i] * b[i].
kernel @sum(%a: in i32, %b: in i32, %c: in i32, %r: out i32, %p: out i32) {
^entry:
  %i = item_id
  %ai = load %a[%i]
  %bi = load %b[%i]
  %ci = load %c[%i]
  %m = mul.i32 %ai, %bi
  %s = add.i32 %ci, %m
  store %s, %r[%i]
  store %m, %p[%i]
  ret
}
; run: halu, vp1, ptx: @sum items=2 a=[2, 3] b=[5, 7] c=[100, 1] -> r=[110, 22] p=[10, 21]
