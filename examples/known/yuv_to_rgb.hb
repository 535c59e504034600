; Conversion from full-range YUV to RGB by BT.709 in 8.8 fixed point, clamped. Each item converts one pixel and writes one word.

fn pixel(a: i32) -> i8 { trunc(min_s(max_s(a, 0), 255)) }

kernel yuv2rgb_709(y: in i8, u: in i8, v: in i8, o: out i8x4) {
  let i = item_id()
  let a = zext.i32(y[i])
  let p = zext.i32(u[i]) - 128
  let q = zext.i32(v[i]) - 128
  let red = pixel(a + (q * 403 + 128 >>_s 8))
  let green = pixel(a - (p * 48 + q * 120 + 128 >>_s 8))
  let blue = pixel(a + (p * 475 + 128 >>_s 8))
  o[i] = i8x4(red, green, blue, 255)
}

; run: halu, vp1, ptx: @yuv2rgb_709 items=256 y=random(256, 101) u=random(256, 102) v=random(256, 103)
; run: halu, vp1, ptx: @yuv2rgb_709 items=256 y=random(256, 201) u=random(256, 202) v=random(256, 203)
