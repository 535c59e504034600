; Where an item's elements begin is known at the launch alone: strides of every sign, and none.
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
