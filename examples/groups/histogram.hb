; How often each byte value stands in x: a histogram of the group in shared memory, added to that of the launch. A group has 256 items; the
; counts lie where the launch says how many bytes there are.
kernel @histogram(%n: i32, %x: in i8, %counts: inout i32) {
  shared %bins: i32[]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %l = local_id
  %i0 = item_id
  %step = item_count
  store %zero, %bins[%l]
  barrier
  br ^loop(%i0)
^loop(%i: i32):
  %more = icmp.lt_u.i32 %i, %n
  br_if %more, ^count, ^add
^count:
  %byte = load %x[%i wide]
  %bin = zext.i32 %byte
  atomic_add.group %one, %bins[%bin]
  %i1 = add.i32 %i, %step
  br ^loop(%i1)
^add:
  barrier
  %found = load %bins[%l]
  %none = icmp.eq.i32 %found, %zero
  br_if %none, ^end, ^give
^give:
  atomic_add %found, %counts[%l wide]
  br ^end
^end:
  ret
}
; run: halu, ptx: @histogram grid=2 block=256 shared=1024 n=1000 x=random(1000, 5) counts=zeros(256)
