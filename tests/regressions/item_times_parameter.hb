; Where an item's elements begin is known at the launch alone: rows of a width that is given, strides of every sign, and none.
kernel @rows(%w: i32, %s: in i32, %o: out i32) {
^entry:
  %c0 = const.i32 0
  %c1 = const.i32 1
  %i = item_id
  %at = mul.i32 %i, %w
  br ^l(%c0, %c0)
^l(%k: i32, %sum: i32):
  %a = add.i32 %at, %k
  %v = load %s[%a]
  %s2 = add.i32 %sum, %v
  store %s2, %o[%a]
  %k2 = add.i32 %k, %c1
  %c = icmp.lt_u.i32 %k2, %w
  br_if %c, ^l(%k2, %s2), ^d
^d:
  ret
}
; run: all: @rows items=5 w=3 s=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] o=zeros(15) -> o=[1, 3, 6, 4, 9, 15, 7, 15, 24, 10, 21, 33, 13, 27, 42]
; run: all: @rows items=37 w=7 s=random(259, 7) o=zeros(259)
; run: all: @rows items=1 w=11 s=random(11, 7) o=zeros(11)

kernel @strided(%step: i32, %from: i32, %x: in i8, %y: out i8) {
^entry:
  %i = item_id
  %j = mul.i32 %step, %i
  %k = add.i32 %j, %from
  %v = load %x[%k]
  %w = load %x[%k + 1]
  %s = add.i8 %v, %w
  store %s, %y[%i]
  ret
}
; run: all: @strided items=40 step=3 from=1 x=random(120, 3) y=zeros(40)
; run: all: @strided items=40 step=0 from=5 x=random(120, 3) y=zeros(40)
; run: all: @strided items=40 step=-2 from=100 x=random(120, 3) y=zeros(40)
; run: all: @strided items=40 step=0xffffffff from=39 x=random(41, 3) y=zeros(40)
