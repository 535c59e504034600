; How often each byte value stands in x: a histogram of the group in shared memory, added to that of the launch. A group has 256 items; the
; counts lie where the launch says how many bytes there are.
kernel histogram(n: i32, x: in i8, counts: inout i32) {
  shared bins: i32[]
  let l = local_id()
  var i = item_id()
  let step = item_count()
  bins[l] = 0
  barrier()
  while i <_u n {
    atomic_add.group(1, bins[zext(x[i wide])])
    i += step
  }
  barrier()
  let found = bins[l]
  if found != 0 { atomic_add(found, counts[l wide]) }
}
; run: halu, ptx: @histogram grid=2 block=256 shared=1024 n=1000 x=random(1000, 5) counts=zeros(256)
