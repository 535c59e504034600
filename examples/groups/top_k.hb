; The k largest signed elements of each group and their positions, in order of position; for equal elements, the first. The group
; size is a multiple of 32, at most 256, and at least k. The search proceeds from the highest bit. The candidates, which agree with
; the k-th largest element so far, vote on the bit. If at least k of them have it, the others are rejected; otherwise, those with
; the bit are taken and the search continues among the others. A ballot counts in a subgroup, and shared memory holds the counts of
; all subgroups, separately for even and odd bits: one barrier for each bit is enough. On PTX `subgroup_reduce_add` needs sm_80.
kernel top_k(k: i32, x: in i32, y: out i32, at: out i32) {
  shared counts: i32[32]
  let (i, l, g, size, lane, sub) = (item_id(), local_id(), group_id(), group_size(), lane_id(), subgroup_id())
  let leads = lane == 0
  let has = lane <_u size >>_u 5
  let earlier = lane <_u sub
  let below = (1 << lane) - 1
  let v = x[i]
  let key = v ^ 0x80000000
  var (b, need, agrees, taken) = (31, k, true, false)
  do {
    let bit = key >>_u b & 1 != 0
    let set = agrees & bit
    let count = popcount(ballot(set, -1))
    let half = (b & 1) << 3
    if leads { counts[half + sub] = count }
    barrier()
    let total = subgroup_reduce_add(if has { counts[half + lane] } else { 0 }, -1)
    let enough = total >=_u need
    agrees = select(enough, set, agrees & !bit)
    taken = select(enough, taken, taken | set)
    need = select(enough, need, need - total)
    b -= 1
  } while b >=_s 0
  ; The remaining candidates are all equal to the k-th largest element.
  let equal_votes = ballot(agrees, -1)
  let equal_count = popcount(equal_votes)
  if leads { counts[sub + 16] = equal_count }
  barrier()
  let equal_before = subgroup_reduce_add(if earlier { counts[lane + 16] } else { 0 }, -1)
  let equal_rank = equal_before + popcount(equal_votes & below)
  let chosen = taken | agrees & (equal_rank <_u need)
  let chosen_votes = ballot(chosen, -1)
  let chosen_count = popcount(chosen_votes)
  if leads { counts[sub + 24] = chosen_count }
  barrier()
  let chosen_before = subgroup_reduce_add(if earlier { counts[lane + 24] } else { 0 }, -1)
  if chosen {
    let rank = chosen_before + popcount(chosen_votes & below)
    let to = g * k + rank
    y[to] = v
    at[to] = l
  }
}
; run: halu, ptx: @top_k grid=3 block=256 k=37 x=random(768, 23) y=zeros(111) at=zeros(111)
; run: halu, ptx: @top_k grid=2 block=96 k=96 x=random(192, 24) y=zeros(192) at=zeros(192)
; run: halu, ptx: @top_k grid=2 block=64 k=10 x=[7, 76, 7, -5, 65, 7, 66, 35, 7, -5, 7, 45, 7, -90, 7, -5, -5, 7, -24, 7, 7, -5, 7, -5, 7, 7, 7, 7, 7, 9, -5, 18, -82, 54, 7, -5, -5, -14, -5, 7, -86, 7, 7, -5, -25, 7, 7, -5, -5, 7, 7, -66, 7, 7, 7, 7, -5, -4, 7, -45, 7, 7, -5, -5, 517983259, 1707578474, 1341843980, 144293176, -861085295, -868219197, -1774317048, -2016891461, 974677144, 928301204, 1573427481, 2145884116, -324918370, 1125310528, -1677553658, -822658013, 2130908942, -123574017, -997458415, 1223322024, -213952083, -1034984687, -721758656, 1518394863, -360155188, -68515195, -1024550239, 157574716, -1328354145, -2000629453, -1379906251, -1705626912, 381694018, -827749459, 1436762551, -307346105, -1531529615, 2936701, -1041914402, -58062137, 464049489, -1100938956, -312727439, 1033130140, -1716305299, 1778813856, 1854845361, 1361456328, 1422902209, 778914762, 948490272, 718057820, 389595065, -1573983007, 971530696, 414573936, 608591636, 49632367, 1181241472, 1616344940, -369926749, 1943035481, -694686763, 740083969] -> y=[7, 76, 7, 65, 66, 35, 45, 9, 18, 54, 1707578474, 1573427481, 2145884116, 2130908942, 1518394863, 1436762551, 1778813856, 1854845361, 1616344940, 1943035481] at=[0, 1, 2, 4, 6, 7, 11, 29, 31, 33, 1, 10, 11, 16, 23, 34, 45, 46, 59, 61]
