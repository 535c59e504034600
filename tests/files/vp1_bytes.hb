; test: asm vp1
; Bytes in vectors: a sum that wraps goes through the accumulator, a comparison leaves its flags to the select in the next bundle.
kernel @bytes(%a: in i8x4, %b: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %s = add.i8x4 %va, %vb
  %d = absdiff_u.i8x4 %s, %vb
  %m = icmp.lt_u.i8x4 %d, %va
  %r = select.i8x4 %m, %d, %s
  store %r, %y[%i]
  ret
}
; run: halu, vp1: @bytes items=2003 a=random(2003, 1) b=random(2003, 2) y=zeros(2003)
