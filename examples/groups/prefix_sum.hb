; The running sums of n elements, each with its own element, in two launches of one grid, which has at least n items in groups of a multiple of 32,
; at most 1024. The first launch gives the sum of each group's elements; in the second, a group adds what the sums before its own are, and
; what the subgroups before an item's have. On PTX `subgroup_reduce_add` needs sm_80.
kernel @block_sums(%n: i32, %x: in i32, %sums: out i32) {
  shared %parts: i32[32]
^entry:
  %all = const.i32 -1
  %zero = const.i32 0
  %five = const.i32 5
  %i = item_id
  %g = group_id
  %size = group_size
  %lane = lane_id
  %sub = subgroup_id
  %leads = icmp.eq.i32 %lane, %zero
  %has = icmp.lt_u.i32 %i, %n
  br_if %has, ^fetch, ^add(%zero)
^fetch:
  %e = load %x[%i]
  br ^add(%e)
^add(%v: i32):
  %part = subgroup_reduce_add %v, %all
  br_if %leads, ^leave, ^wait
^leave:
  store %part, %parts[%sub]
  br ^wait
^wait:
  barrier
  %first = icmp.eq.i32 %sub, %zero
  br_if %first, ^last, ^end
^last:
  %subs = shr_u.i32 %size, %five
  %takes = icmp.lt_u.i32 %lane, %subs
  br_if %takes, ^take, ^sum(%zero)
^take:
  %p = load %parts[%lane]
  br ^sum(%p)
^sum(%q: i32):
  %sum = subgroup_reduce_add %q, %all
  br_if %leads, ^write, ^end
^write:
  store %sum, %sums[%g]
  br ^end
^end:
  ret
}

kernel @prefix_sum(%n: i32, %x: in i32, %sums: in i32, %y: out i32) {
  shared %ends: i32[32]
  shared %bases: i32[32]
^entry:
  %all = const.i32 -1
  %c = const.i32 0
  %zero = const.i32 0
  %d1 = const.i32 1
  %c32 = const.i32 32
  %c31 = const.i32 31
  %five = const.i32 5
  %i = item_id
  %l = local_id
  %g = group_id
  %size = group_size
  %lane = lane_id
  %sub = subgroup_id
  %has = icmp.lt_u.i32 %i, %n
  br ^before(%l, %zero)
^before(%b: i32, %base: i32):
  %more = icmp.lt_u.i32 %b, %g
  br_if %more, ^add_sum, ^element
^add_sum:
  %s = load %sums[%b]
  %base1 = add.i32 %base, %s
  %b1 = add.i32 %b, %size
  br ^before(%b1, %base1)
^element:
  %part = subgroup_reduce_add %base, %all
  br_if %has, ^fetch, ^scan(%d1, %zero)
^fetch:
  %e = load %x[%i]
  br ^scan(%d1, %e)
^scan(%d: i32, %v: i32):
  %lower = subgroup_shuffle_up.i32 %v, %d, %c, %all
  %adds = icmp.ge_u.i32 %lane, %d
  %v_lower = add.i32 %v, %lower
  %v1 = select.i32 %adds, %v_lower, %v
  %twice = shl.i32 %d, %d1
  %on = icmp.lt_u.i32 %twice, %c32
  br_if %on, ^scan(%twice, %v1), ^scanned
^scanned:
  %is_last = icmp.eq.i32 %lane, %c31
  br_if %is_last, ^leave, ^wait
^leave:
  store %v1, %ends[%sub]
  store %part, %bases[%sub]
  br ^wait
^wait:
  barrier
  %subs = shr_u.i32 %size, %five
  %takes = icmp.lt_u.i32 %lane, %subs
  br_if %takes, ^take_base, ^all_before(%zero)
^take_base:
  %of_groups = load %bases[%lane]
  %earlier = icmp.lt_u.i32 %lane, %sub
  br_if %earlier, ^take_end, ^all_before(%of_groups)
^take_end:
  %of_subgroup = load %ends[%lane]
  %both = add.i32 %of_groups, %of_subgroup
  br ^all_before(%both)
^all_before(%t: i32):
  %total = subgroup_reduce_add %t, %all
  br_if %has, ^write, ^end
^write:
  %r = add.i32 %total, %v1
  store %r, %y[%i]
  br ^end
^end:
  ret
}
; run: halu, ptx: @block_sums grid=5 block=64 n=301 x=random(301, 26) sums=zeros(5)
; then: @prefix_sum grid=5 block=64
; run: halu, ptx: @block_sums grid=3 block=32 n=90 x=[-18, 23, 99, 30, 46, 30, 80, 79, 47, -26, 67, 23, 62, 95, 62, 11, -49, -47, -5, -34, 20, -9, -11, -15, -7, -29, -37, 3, -38, 51, 96, 65, 35, 42, 47, -43, -1, 51, 50, -7, 48, 39, -21, -10, -29, 44, 63, 59, 51, 85, -15, 7, 2, 60, 34, -28, -22, 26, -41, 6, 78, -42, -32, 4, 15, -45, -3, 99, 46, 88, -9, 78, 48, 73, 44, 34, 64, -39, 62, -24, 99, -19, -32, -39, 28, 98, 98, 47, -25, -37] -> sums=[664, 540, 749]
; then: @prefix_sum grid=3 block=32 -> y=[-18, 5, 104, 134, 180, 210, 290, 369, 416, 390, 457, 480, 542, 637, 699, 710, 661, 614, 609, 575, 595, 586, 575, 560, 553, 524, 487, 490, 452, 503, 599, 664, 699, 741, 788, 745, 744, 795, 845, 838, 886, 925, 904, 894, 865, 909, 972, 1031, 1082, 1167, 1152, 1159, 1161, 1221, 1255, 1227, 1205, 1231, 1190, 1196, 1274, 1232, 1200, 1204, 1219, 1174, 1171, 1270, 1316, 1404, 1395, 1473, 1521, 1594, 1638, 1672, 1736, 1697, 1759, 1735, 1834, 1815, 1783, 1744, 1772, 1870, 1968, 2015, 1990, 1953]
; run: halu, ptx: @prefix_sum grid=2 block=32 n=40 x=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -2] sums=[32, 6] y=zeros(40) -> y=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 37]
