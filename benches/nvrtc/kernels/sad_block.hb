; Sums of absolute differences of blocks of 8 by 8 pixels. Each item computes a block. Rows are `w` words apart.
kernel sad_block(a: in i8x4, b: in i8x4, w: i32, sums: out i32) {
  let i = item_id()
  var sum = 0
  unroll for r in 0..8 {
    let at = 2 * i + r * w
    sum = sad_u(a[at], b[at], sum)
    sum = sad_u(a[at + 1], b[at + 1], sum)
  }
  sums[i] = sum
}
; run: halu, ptx: @sad_block items=64 a=random(1100, 1) b=random(1100, 2) w=136 sums=zeros(64)
