; Four bytes darker by `by`, but none below 16
kernel fade(by: i8x4, pixels: in i8x4, darker: out i8x4) {
  let i = item_id()
  darker[i] = max_u(sub_sat_u(pixels[i], by), 16)
}
; run: halu, vp1, ptx: @fade items=2 by=40 pixels=[[0, 50, 60, 255], 100] -> darker=[[16, 16, 20, 215], 60]
