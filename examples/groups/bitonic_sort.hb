; Each group's elements in ascending order, signed, by a bitonic network in shared memory. A group has a power of two of items, at most 256.
kernel @sort(%x: inout i32) {
  shared %s: i32[256]
^entry:
  %zero = const.i32 0
  %one = const.i32 1
  %two = const.i32 2
  %l = local_id
  %i = item_id
  %n = group_size
  %v = load %x[%i]
  store %v, %s[%l]
  barrier
  br ^outer(%two)
^outer(%k: i32):
  %more = icmp.le_u.i32 %k, %n
  %j0 = shr_u.i32 %k, %one
  br_if %more, ^inner(%j0), ^end
^inner(%j: i32):
  %again = icmp.ne.i32 %j, %zero
  br_if %again, ^pair, ^next
^pair:
  %o = xor.i32 %l, %j
  %leads = icmp.gt_u.i32 %o, %l
  br_if %leads, ^compare, ^wait
^compare:
  %a = load %s[%l]
  %b = load %s[%o]
  %bit = and.i32 %l, %k
  %up = icmp.eq.i32 %bit, %zero
  %min = min_s.i32 %a, %b
  %max = max_s.i32 %a, %b
  %low = select.i32 %up, %min, %max
  %high = select.i32 %up, %max, %min
  store %low, %s[%l]
  store %high, %s[%o]
  br ^wait
^wait:
  barrier
  %j1 = shr_u.i32 %j, %one
  br ^inner(%j1)
^next:
  %k1 = shl.i32 %k, %one
  br ^outer(%k1)
^end:
  %r = load %s[%l]
  store %r, %x[%i]
  ret
}
; run: halu, ptx: @sort grid=1 block=8 x=[5, -1, 7, 3, 0, 9, -8, 2] -> x=[-8, -1, 0, 2, 3, 5, 7, 9]
; run: halu, ptx: @sort grid=2 block=256 x=random(512, 11)
