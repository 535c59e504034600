; y[i] is the mean of n neighbouring pairs of halves of x, in each lane; n is at least 1.
kernel @mean(%x: in f16x2, %n: i32, %scale: f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %none = const.f16x2 0
  %first = const.i32 0
  br ^loop(%first, %none)
^loop(%k: i32, %sum: f16x2):
  %at = add.i32 %i, %k
  %v = load %x[%at]
  %next = fadd.f16x2 %sum, %v
  %one = const.i32 1
  %k1 = add.i32 %k, %one
  %more = icmp.lt_s.i32 %k1, %n
  br_if %more, ^loop(%k1, %next), ^done
^done:
  %r = fmul.f16x2 %next, %scale
  store %r, %y[%i]
  ret
}
; run: halu, ptx: @mean items=2 n=2 scale=0.5 x=[[1, 10], [3, 20], [5, 30]] -> y=[[2, 15], [4, 25]]
