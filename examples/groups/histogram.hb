; Histogram of the bytes of x. Each group counts in shared memory and then adds its counts to those of
; the launch. The group size is 256. The launch gives the size of the shared memory for the counts.
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
