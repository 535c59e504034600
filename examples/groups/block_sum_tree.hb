; Sum of the elements of each group by a tree in shared memory: in each step, the lower half of
; the items adds the values of the upper half. The group size is a power of two, at most 256.
kernel block_sum(x: in i32, y: out i32) {
  shared tile: i32[256]
  let (l, i, n) = (local_id(), item_id(), group_size())
  tile[l] = x[i]
  barrier()
  var s = n >>_u 1
  while s != 0 {
    if l <_u s { tile[l] += tile[l + s] }
    barrier()
    s = s >>_u 1
  }
  if l == 0 { y[group_id()] = tile[0] }
}
; run: halu, ptx: @block_sum grid=2 block=4 x=[1, 2, 3, 4, 5, 6, 7, -8] y=zeros(2) -> y=[10, 10]
; run: halu, ptx: @block_sum grid=3 block=256 x=random(768, 1) y=zeros(3)
; run: halu, ptx: @block_sum grid=1 block=8,4 x=random(32, 2) y=zeros(1)
