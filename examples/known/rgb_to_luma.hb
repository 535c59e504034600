; Luma of planar RGB by BT.601: (66 r + 129 g + 25 b) / 256, rounded, plus 16. Each item computes 16 pixels.
kernel rgb2y_601_v(r: in i8x16, g: in i8x16, b: in i8x16, y: out i8x16) {
  let i = item_id()
  let sum = zext.i16x16(r[i]) * 66 + zext.i16x16(g[i]) * 129 + zext.i16x16(b[i]) * 25
  y[i] = trunc.i8x16(round_shr_u(sum, 8)) + 16
}

; run: halu, vp1, ptx: @rgb2y_601_v items=16 r=random(16, 101) g=random(16, 102) b=random(16, 103)
; run: halu, vp1, ptx: @rgb2y_601_v items=16 r=random(16, 201) g=random(16, 202) b=random(16, 203)
