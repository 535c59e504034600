; Luma of RGBA pixels. Each item computes a pixel.
kernel grey(rgba: in i8x4, luma: out i8) {
  let i = item_id()
  let p = rgba[i]
  let (r, g, b) = (zext.i32(extract(p, 0)), zext.i32(extract(p, 1)), zext.i32(extract(p, 2)))
  luma[i] = trunc(77 * r + 150 * g + 29 * b + 128 >>_u 8)
}
; run: halu, ptx: @grey items=256 rgba=random(256, 1) luma=zeros(256)
