; Dilation of a grey picture: the maximum of 3 by 3 pixels. Each item computes four pixels. Rows are `w` words apart.
fn widest(grey: in i8x4, i: i32) -> i8x4 {
  let (before, at, after) = (grey[i], grey[i + 1], grey[i + 2])
  max_u(max_u(shuffle(before, at, [3, 4, 5, 6]), at), shuffle(at, after, [1, 2, 3, 4]))
}

kernel dilate(grey: in i8x4, w: i32, dilated: out i8x4) {
  let i = item_id()
  dilated[i] = max_u(max_u(widest(grey, i), widest(grey, i + w)), widest(grey, i + 2 * w))
}
; run: halu, ptx: @dilate items=256 grey=random(400, 1) w=64 dilated=zeros(256)
