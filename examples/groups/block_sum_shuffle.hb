; The sum of each group's elements by exchanges: each subgroup of 32 adds up by itself, and the first one then adds what the others have.
; A group has a multiple of 32 items.
kernel @block_sum(%x: in i32, %y: out i32) {
  shared %sums: i32[32]
^entry:
  %all = const.i32 -1
  %c = const.i32 31
  %zero = const.i32 0
  %five = const.i32 5
  %d16 = const.i32 16
  %d8 = const.i32 8
  %d4 = const.i32 4
  %d2 = const.i32 2
  %d1 = const.i32 1
  %i = item_id
  %lane = lane_id
  %sub = subgroup_id
  %n = group_size
  %v = load %x[%i]
  %a = subgroup_shuffle_down.i32 %v, %d16, %c, %all
  %v1 = add.i32 %v, %a
  %b = subgroup_shuffle_down.i32 %v1, %d8, %c, %all
  %v2 = add.i32 %v1, %b
  %e = subgroup_shuffle_down.i32 %v2, %d4, %c, %all
  %v3 = add.i32 %v2, %e
  %f = subgroup_shuffle_down.i32 %v3, %d2, %c, %all
  %v4 = add.i32 %v3, %f
  %h = subgroup_shuffle_down.i32 %v4, %d1, %c, %all
  %v5 = add.i32 %v4, %h
  %leads = icmp.eq.i32 %lane, %zero
  br_if %leads, ^leave, ^wait
^leave:
  store %v5, %sums[%sub]
  br ^wait
^wait:
  barrier
  %first = icmp.eq.i32 %sub, %zero
  br_if %first, ^last, ^end
^last:
  %subs = shr_u.i32 %n, %five
  %has = icmp.lt_u.i32 %lane, %subs
  br_if %has, ^take, ^add(%zero)
^take:
  %w = load %sums[%lane]
  br ^add(%w)
^add(%s: i32):
  %sa = subgroup_shuffle_xor.i32 %s, %d16, %c, %all
  %s1 = add.i32 %s, %sa
  %sb = subgroup_shuffle_xor.i32 %s1, %d8, %c, %all
  %s2 = add.i32 %s1, %sb
  %sc = subgroup_shuffle_xor.i32 %s2, %d4, %c, %all
  %s3 = add.i32 %s2, %sc
  %sd = subgroup_shuffle_xor.i32 %s3, %d2, %c, %all
  %s4 = add.i32 %s3, %sd
  %se = subgroup_shuffle_xor.i32 %s4, %d1, %c, %all
  %s5 = add.i32 %s4, %se
  br_if %leads, ^write, ^end
^write:
  %g = group_id
  store %s5, %y[%g]
  br ^end
^end:
  ret
}
; run: halu, ptx: @block_sum grid=2 block=64 x=random(128, 3) y=zeros(2)
; run: halu, ptx: @block_sum grid=1 block=32 x=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32] y=zeros(1) -> y=[528]
