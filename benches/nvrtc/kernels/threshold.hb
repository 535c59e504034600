; Threshold of a grey picture: 255 above the level, else 0. Each item computes four pixels.
kernel threshold(grey: in i8x4, level: i8, result: out i8x4) {
  let i = item_id()
  result[i] = select(grey[i] >_u i8x4(level), 255, 0)
}
; run: halu, ptx: @threshold items=256 grey=random(256, 1) level=100 result=zeros(256)
