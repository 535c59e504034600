; y[g] is the sum of the elements of group g
kernel sums(x: in i32, y: out i32) {
  shared t: i32[64]
  let l = local_id()
  t[l] = x[item_id()]
  barrier()
  var h = 32
  while h >_s 0 {
    if l <_s h { t[l] += t[l + h] }
    barrier()
    h = h >>_u 1
  }
  if l == 0 { y[group_id()] = t[0] }
}
; run: halu, ptx: @sums grid=2 block=64 x=random(128, 1) y=zeros(2)
