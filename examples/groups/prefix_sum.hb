; Inclusive prefix sums of n elements, in two launches of one grid. The grid has at least n items; the group size is a
; multiple of 32, at most 1024. The first launch computes the sum of each group. In the second launch, a group adds the sums
; of the groups before it, and an item the sums of the subgroups before its own. On PTX `subgroup_reduce_add` needs sm_80.
kernel block_sums(n: i32, x: in i32, sums: out i32) {
  shared parts: i32[32]
  let (i, g, size, lane, sub) = (item_id(), group_id(), group_size(), lane_id(), subgroup_id())
  let leads = lane == 0
  let part = subgroup_reduce_add(if i <_u n { x[i] } else { 0 }, -1)
  if leads { parts[sub] = part }
  barrier()
  if sub == 0 {
    let sum = subgroup_reduce_add(if lane <_u size >>_u 5 { parts[lane] } else { 0 }, -1)
    if leads { sums[g] = sum }
  }
}

kernel prefix_sum(n: i32, x: in i32, sums: in i32, y: out i32) {
  shared ends: i32[32]
  shared bases: i32[32]
  let (i, l, g, size, lane, sub) = (item_id(), local_id(), group_id(), group_size(), lane_id(), subgroup_id())
  let has = i <_u n
  var (b, base) = (l, 0)
  while b <_u g {
    base += sums[b]
    b += size
  }
  let part = subgroup_reduce_add(base, -1)
  var (d, v) = (1, if has { x[i] } else { 0 })
  do {
    let lower = subgroup_shuffle_up(v, d, 0, -1)
    v = select(lane >=_u d, v + lower, v)
    d = d << 1
  } while d <_u 32
  if lane == 31 {
    ends[sub] = v
    bases[sub] = part
  }
  barrier()
  var before = 0
  if lane <_u size >>_u 5 {
    before = bases[lane]
    if lane <_u sub { before += ends[lane] }
  }
  let total = subgroup_reduce_add(before, -1)
  if has { y[i] = total + v }
}
; run: halu, ptx: @block_sums grid=5 block=64 n=301 x=random(301, 26) sums=zeros(5)
; then: @prefix_sum grid=5 block=64
; run: halu, ptx: @block_sums grid=3 block=32 n=90 x=[-18, 23, 99, 30, 46, 30, 80, 79, 47, -26, 67, 23, 62, 95, 62, 11, -49, -47, -5, -34, 20, -9, -11, -15, -7, -29, -37, 3, -38, 51, 96, 65, 35, 42, 47, -43, -1, 51, 50, -7, 48, 39, -21, -10, -29, 44, 63, 59, 51, 85, -15, 7, 2, 60, 34, -28, -22, 26, -41, 6, 78, -42, -32, 4, 15, -45, -3, 99, 46, 88, -9, 78, 48, 73, 44, 34, 64, -39, 62, -24, 99, -19, -32, -39, 28, 98, 98, 47, -25, -37] -> sums=[664, 540, 749]
; then: @prefix_sum grid=3 block=32 -> y=[-18, 5, 104, 134, 180, 210, 290, 369, 416, 390, 457, 480, 542, 637, 699, 710, 661, 614, 609, 575, 595, 586, 575, 560, 553, 524, 487, 490, 452, 503, 599, 664, 699, 741, 788, 745, 744, 795, 845, 838, 886, 925, 904, 894, 865, 909, 972, 1031, 1082, 1167, 1152, 1159, 1161, 1221, 1255, 1227, 1205, 1231, 1190, 1196, 1274, 1232, 1200, 1204, 1219, 1174, 1171, 1270, 1316, 1404, 1395, 1473, 1521, 1594, 1638, 1672, 1736, 1697, 1759, 1735, 1834, 1815, 1783, 1744, 1772, 1870, 1968, 2015, 1990, 1953]
; run: halu, ptx: @prefix_sum grid=2 block=32 n=40 x=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -2] sums=[32, 6] y=zeros(40) -> y=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 37]
