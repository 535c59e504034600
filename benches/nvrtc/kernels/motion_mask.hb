; Pixels that differ from a background by more than a level, and the new background, an average. Each item computes four pixels.
kernel motion_mask(frame: in i8x4, level: i8, background: inout i8x4, mask: out i8x4) {
  let i = item_id()
  let (a, b) = (frame[i], background[i])
  mask[i] = mask_expand(absdiff_u(a, b) >_u i8x4(level))
  background[i] = avg_u(a, b)
}
; run: halu, ptx: @motion_mask items=256 frame=random(256, 1) level=40 background=random(256, 2) mask=zeros(256)
