; Inclusive prefix sums of the elements of each group. In step k, an item adds the element 2^k positions before its
; own, from one array into the other. One barrier for each step is therefore enough. The group size is at most 256.
kernel @scan(%x: in i32, %y: out i32) {
  shared %a: i32[256]
  shared %b: i32[256]
^entry:
  %one = const.i32 1
  %l = local_id
  %i = item_id
  %n = group_size
  %v = load %x[%i]
  store %v, %a[%l]
  barrier
  br ^loop(%one, %a, %b, %v)
^loop(%d: i32, %from: ptr, %to: ptr, %sum: i32):
  %more = icmp.lt_u.i32 %d, %n
  br_if %more, ^step, ^end
^step:
  %has = icmp.ge_u.i32 %l, %d
  br_if %has, ^add, ^give(%sum)
^add:
  %k = sub.i32 %l, %d
  %before = load.i32 %from[%k]
  %more_sum = add.i32 %sum, %before
  br ^give(%more_sum)
^give(%s: i32):
  store.i32 %s, %to[%l]
  barrier
  %d2 = shl.i32 %d, %one
  br ^loop(%d2, %to, %from, %s)
^end:
  store %sum, %y[%i]
  ret
}
; run: halu, ptx: @scan grid=1 block=5 x=[1, 2, 3, 4, 5] y=zeros(5) -> y=[1, 3, 6, 10, 15]
; run: halu, ptx: @scan grid=2 block=200 x=random(400, 9) y=zeros(400)
