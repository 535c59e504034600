; The sum of each group's elements by a tree in shared memory: in each step the lower half of the items adds what the upper half has.
; A group has a power of two of items, at most 256.
kernel @block_sum(%x: in i32, %y: out i32) {
  shared %tile: i32[256]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %l = local_id
  %i = item_id
  %n = group_size
  %v = load %x[%i]
  store %v, %tile[%l]
  barrier
  %half = shr_u.i32 %n, %one
  br ^loop(%half)
^loop(%s: i32):
  %more = icmp.ne.i32 %s, %zero
  br_if %more, ^step, ^sum
^step:
  %mine = icmp.lt_u.i32 %l, %s
  br_if %mine, ^add, ^next
^add:
  %o = add.i32 %l, %s
  %a = load %tile[%l]
  %b = load %tile[%o]
  %c = add.i32 %a, %b
  store %c, %tile[%l]
  br ^next
^next:
  barrier
  %s2 = shr_u.i32 %s, %one
  br ^loop(%s2)
^sum:
  %first = icmp.eq.i32 %l, %zero
  br_if %first, ^write, ^end
^write:
  %g = group_id
  %t = load %tile[0]
  store %t, %y[%g]
  br ^end
^end:
  ret
}
; run: halu, ptx: @block_sum grid=2 block=4 x=[1, 2, 3, 4, 5, 6, 7, -8] y=zeros(2) -> y=[10, 10]
; run: halu, ptx: @block_sum grid=3 block=256 x=random(768, 1) y=zeros(3)
; run: halu, ptx: @block_sum grid=1 block=8,4 x=random(32, 2) y=zeros(1)
