include "std/group"

; The same, of groups of any multiple of 32 items
kernel sums(x: in i32, y: out i32) {
  shared parts: i32[32]
  let sum = group_sum(x[item_id()], parts)
  if local_id() == 0 { y[group_id()] = sum }
}
; run: halu, ptx: @sums grid=2 block=64 x=random(128, 1) y=zeros(2)
; run: halu, ptx: @sums grid=3 block=256 x=random(768, 1) y=zeros(3)
