; test: asm vp1
; What only words can do is done item by item, in the scalar unit.
kernel @words(%k: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i32 %a, %k
  %m = icmp.lt_s.i32 %b, %k
  %r = select.i32 %m, %a, %b
  store %r, %y[%i]
  ret
}
; run: halu, vp1: @words items=1003 k=5 x=random(1003, 7) y=zeros(1003)
