; Sum of the elements of each group by shuffles: each subgroup of 32 computes its
; sum, and the first subgroup adds these sums. The group size is a multiple of 32.
kernel block_sum(x: in i32, y: out i32) {
  shared sums: i32[32]
  let (i, lane, sub, n) = (item_id(), lane_id(), subgroup_id(), group_size())
  var v = x[i]
  unroll for k in 0..5 { v += subgroup_shuffle_down(v, 16 >>_u k, 31, -1) }
  let leads = lane == 0
  if leads { sums[sub] = v }
  barrier()
  if sub == 0 {
    var s = if lane <_u n >>_u 5 { sums[lane] } else { 0 }
    unroll for k in 0..5 { s += subgroup_shuffle_xor(s, 16 >>_u k, 31, -1) }
    if leads { y[group_id()] = s }
  }
}
; run: halu, ptx: @block_sum grid=2 block=64 x=random(128, 3) y=zeros(2)
; run: halu, ptx: @block_sum grid=1 block=32 x=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32] y=zeros(1) -> y=[528]
