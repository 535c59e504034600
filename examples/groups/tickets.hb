; Sum of all elements in one launch. Each group adds its sum to the total and takes a ticket; the group
; with the last ticket writes the total. The order determines which group writes, but not the result.
kernel sum(x: in i32, sum: inout i32, ticket: inout i32, y: out i32) {
  shared part: i32[1]
  let (l, i) = (local_id(), item_id())
  let first = l == 0
  if first { part[0] = 0 }
  barrier()
  atomic_add.group(x[i], part[0])
  barrier()
  if first {
    atomic_add(part[0], sum[0])
    fence.acq_rel.device()
    let last = group_count() - 1
    if atomic_inc(last, ticket[0]) == last {
      fence.acq_rel.device()
      y[0] = atomic_load(sum[0])
    }
  }
}
; run: halu, ptx: @sum grid=2 block=2 x=[1, 2, 3, 4] sum=[0] ticket=[0] y=zeros(1) -> sum=[10] ticket=[0] y=[10]
; run: halu, ptx: @sum grid=5 block=64 x=random(320, 13) sum=[0] ticket=[0] y=zeros(1)
