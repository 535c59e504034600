; The k greatest elements of each group, signed, and where in the group they stand, in the order of their places; of equal ones the first. A group
; has a multiple of 32 items, at most 256, and k is at most that. Bit by bit from the highest, the items that agree with the k-th greatest so
; far say whether their element has the bit: where k or more have it the others are out, else those are taken, and the rest are looked for
; among the others. A ballot counts within a subgroup, and shared memory has the counts of all; those of even bits and of odd bits lie apart,
; so that one barrier a bit is enough. On PTX `subgroup_reduce_add` needs sm_80.
kernel @top_k(%k: i32, %x: in i32, %y: out i32, %at: out i32) {
  shared %counts: i32[32]
^entry:
  %all = const.i32 -1
  %zero = const.i32 0
  %one = const.i32 1
  %three = const.i32 3
  %five = const.i32 5
  %c31 = const.i32 31
  %no = const.i1 0
  %yes = const.i1 1
  %sign = const.i32 0x80000000
  %i = item_id
  %l = local_id
  %g = group_id
  %size = group_size
  %lane = lane_id
  %sub = subgroup_id
  %leads = icmp.eq.i32 %lane, %zero
  %subs = shr_u.i32 %size, %five
  %has = icmp.lt_u.i32 %lane, %subs
  %earlier = icmp.lt_u.i32 %lane, %sub
  %bit_of_lane = shl.i32 %one, %lane
  %below = sub.i32 %bit_of_lane, %one
  %v = load %x[%i]
  %key = xor.i32 %v, %sign
  br ^bit(%c31, %k, %yes, %no)
^bit(%b: i32, %need: i32, %agrees: i1, %taken: i1):
  %shifted = shr_u.i32 %key, %b
  %low = and.i32 %shifted, %one
  %bit = icmp.ne.i32 %low, %zero
  %set = and.i1 %agrees, %bit
  %votes = ballot %set, %all
  %count = popcount.i32 %votes
  %odd = and.i32 %b, %one
  %half = shl.i32 %odd, %three
  br_if %leads, ^leave, ^wait
^leave:
  %to_count = add.i32 %half, %sub
  store %count, %counts[%to_count]
  br ^wait
^wait:
  barrier
  br_if %has, ^take, ^sum(%zero)
^take:
  %from_count = add.i32 %half, %lane
  %other = load %counts[%from_count]
  br ^sum(%other)
^sum(%part: i32):
  %total = subgroup_reduce_add %part, %all
  %enough = icmp.ge_u.i32 %total, %need
  %clear = not.i1 %bit
  %unset = and.i1 %agrees, %clear
  %agrees1 = select.i1 %enough, %set, %unset
  %with_set = or.i1 %taken, %set
  %taken1 = select.i1 %enough, %taken, %with_set
  %rest = sub.i32 %need, %total
  %need1 = select.i32 %enough, %need, %rest
  %b1 = sub.i32 %b, %one
  %more = icmp.ne.i32 %b, %zero
  br_if %more, ^bit(%b1, %need1, %agrees1, %taken1), ^equal
^equal:
  ; Those that still agree are all equal to the k-th greatest.
  %equal_votes = ballot %agrees1, %all
  %equal_count = popcount.i32 %equal_votes
  br_if %leads, ^leave_equal, ^wait_equal
^leave_equal:
  store %equal_count, %counts[%sub + 16]
  br ^wait_equal
^wait_equal:
  barrier
  br_if %earlier, ^take_equal, ^sum_equal(%zero)
^take_equal:
  %other_equal = load %counts[%lane + 16]
  br ^sum_equal(%other_equal)
^sum_equal(%part_equal: i32):
  %equal_before = subgroup_reduce_add %part_equal, %all
  %equal_lanes = and.i32 %equal_votes, %below
  %equal_here = popcount.i32 %equal_lanes
  %equal_rank = add.i32 %equal_before, %equal_here
  %early = icmp.lt_u.i32 %equal_rank, %need1
  %fills = and.i1 %agrees1, %early
  %chosen = or.i1 %taken1, %fills
  %chosen_votes = ballot %chosen, %all
  %chosen_count = popcount.i32 %chosen_votes
  br_if %leads, ^leave_chosen, ^wait_chosen
^leave_chosen:
  store %chosen_count, %counts[%sub + 24]
  br ^wait_chosen
^wait_chosen:
  barrier
  br_if %earlier, ^take_chosen, ^sum_chosen(%zero)
^take_chosen:
  %other_chosen = load %counts[%lane + 24]
  br ^sum_chosen(%other_chosen)
^sum_chosen(%part_chosen: i32):
  %chosen_before = subgroup_reduce_add %part_chosen, %all
  br_if %chosen, ^write, ^end
^write:
  %chosen_lanes = and.i32 %chosen_votes, %below
  %chosen_here = popcount.i32 %chosen_lanes
  %rank = add.i32 %chosen_before, %chosen_here
  %start = mul.i32 %g, %k
  %to = add.i32 %start, %rank
  store %v, %y[%to]
  store %l, %at[%to]
  br ^end
^end:
  ret
}
; run: halu, ptx: @top_k grid=3 block=256 k=37 x=random(768, 23) y=zeros(111) at=zeros(111)
; run: halu, ptx: @top_k grid=2 block=96 k=96 x=random(192, 24) y=zeros(192) at=zeros(192)
; run: halu, ptx: @top_k grid=2 block=64 k=10 x=[7, 76, 7, -5, 65, 7, 66, 35, 7, -5, 7, 45, 7, -90, 7, -5, -5, 7, -24, 7, 7, -5, 7, -5, 7, 7, 7, 7, 7, 9, -5, 18, -82, 54, 7, -5, -5, -14, -5, 7, -86, 7, 7, -5, -25, 7, 7, -5, -5, 7, 7, -66, 7, 7, 7, 7, -5, -4, 7, -45, 7, 7, -5, -5, 517983259, 1707578474, 1341843980, 144293176, -861085295, -868219197, -1774317048, -2016891461, 974677144, 928301204, 1573427481, 2145884116, -324918370, 1125310528, -1677553658, -822658013, 2130908942, -123574017, -997458415, 1223322024, -213952083, -1034984687, -721758656, 1518394863, -360155188, -68515195, -1024550239, 157574716, -1328354145, -2000629453, -1379906251, -1705626912, 381694018, -827749459, 1436762551, -307346105, -1531529615, 2936701, -1041914402, -58062137, 464049489, -1100938956, -312727439, 1033130140, -1716305299, 1778813856, 1854845361, 1361456328, 1422902209, 778914762, 948490272, 718057820, 389595065, -1573983007, 971530696, 414573936, 608591636, 49632367, 1181241472, 1616344940, -369926749, 1943035481, -694686763, 740083969] -> y=[7, 76, 7, 65, 66, 35, 45, 9, 18, 54, 1707578474, 1573427481, 2145884116, 2130908942, 1518394863, 1436762551, 1778813856, 1854845361, 1616344940, 1943035481] at=[0, 1, 2, 4, 6, 7, 11, 29, 31, 33, 1, 10, 11, 16, 23, 34, 45, 46, 59, 61]
