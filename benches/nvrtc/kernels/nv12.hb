; A row of NV12 to RGBA (BT.601, limited range). Each item computes two pixels, which share a pair of chroma.
include "std/colour"

kernel nv12(luma: in i8, chroma: in i8, rgba: out i8x4) {
  let i = item_id()
  let (u, v) = (zext.i32(chroma[2 * i]), zext.i32(chroma[2 * i + 1]))
  rgba[2 * i] = pixel_601(zext(luma[2 * i]), u, v)
  rgba[2 * i + 1] = pixel_601(zext(luma[2 * i + 1]), u, v)
}
; run: halu, ptx: @nv12 items=128 luma=random(256, 1) chroma=random(256, 2) rgba=zeros(256)
