; Ordered dithering of a row of a grey picture to black and white, by a matrix of 4 by 4 thresholds. Each item computes four pixels.
kernel dither(grey: in i8x4, row: i32, result: out i8x4,
  thresholds: in i8x4 = [i8x4(8, 136, 40, 168), i8x4(200, 72, 232, 104), i8x4(56, 184, 24, 152), i8x4(248, 120, 216, 88)]) {
  let i = item_id()
  result[i] = mask_expand(grey[i] >_u thresholds[row & 3])
}
; run: halu, ptx: @dither items=256 grey=random(256, 1) row=6 result=zeros(256)
