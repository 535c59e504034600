; The sum of all elements in one launch: each group adds its own to the sum and takes a ticket, and the group with the last one writes the
; sum. Which group that is depends on their order, and the result does not.
kernel @sum(%x: in i32, %sum: inout i32, %ticket: inout i32, %y: out i32) {
  shared %part: i32[1]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %l = local_id
  %i = item_id
  %first = icmp.eq.i32 %l, %zero
  br_if %first, ^clear, ^start
^clear:
  store %zero, %part[0]
  br ^start
^start:
  barrier
  %v = load %x[%i]
  atomic_add.group %v, %part[0]
  barrier
  br_if %first, ^give, ^end
^give:
  %mine = load %part[0]
  atomic_add %mine, %sum[0]
  fence.acq_rel.device
  %groups = group_count
  %last = sub.i32 %groups, %one
  %t = atomic_inc %last, %ticket[0]
  %is_last = icmp.eq.i32 %t, %last
  br_if %is_last, ^write, ^end
^write:
  fence.acq_rel.device
  %all = atomic_load %sum[0]
  store %all, %y[0]
  br ^end
^end:
  ret
}
; run: halu, ptx: @sum grid=2 block=2 x=[1, 2, 3, 4] sum=[0] ticket=[0] y=zeros(1) -> sum=[10] ticket=[0] y=[10]
; run: halu, ptx: @sum grid=5 block=64 x=random(320, 13) sum=[0] ticket=[0] y=zeros(1)
