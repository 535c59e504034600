; Sorts the elements of each group in ascending signed order, by a bitonic network in shared memory. The group size is a power of two, at most 256.
kernel sort(x: inout i32) {
  shared s: i32[256]
  let (l, i, n) = (local_id(), item_id(), group_size())
  s[l] = x[i]
  barrier()
  var k = 2
  while k <=_u n {
    var j = k >>_u 1
    while j != 0 {
      let o = l ^ j
      if o >_u l {
        let (a, b) = (s[l], s[o])
        let up = l & k == 0
        let (least, most) = (min_s(a, b), max_s(a, b))
        let (low, high) = (select(up, least, most), select(up, most, least))
        s[l] = low
        s[o] = high
      }
      barrier()
      j = j >>_u 1
    }
    k = k << 1
  }
  x[i] = s[l]
}
; run: halu, ptx: @sort grid=1 block=8 x=[5, -1, 7, 3, 0, 9, -8, 2] -> x=[-8, -1, 0, 2, 3, 5, 7, 9]
; run: halu, ptx: @sort grid=2 block=256 x=random(512, 11)
