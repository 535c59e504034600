; Conversions of FP8 (E4M3, without infinities). The conversion to halves shifts the bits and multiplies by 2^8; it
; does not support NaN. The conversion from halves rounds to nearest even, saturates at 448, and converts NaN to 0x7f.

; Converts two halves; each result is the upper byte of its half-word.
fn scaled(v: i8x4) -> f16x2 {
  let w: i16x2 = bitcast(v)
  bitcast.f16x2(w & i16x2(0x8000_i16) | (w & i16x2(0x7f00_i16)) >>_u 1) * 256.0
}

kernel e4m3_to_f16(x: in i8x4, y: out f16x2) {
  let i = item_id()
  let v = x[i]
  let at = i * 2
  y[at] = scaled(shuffle(i8x4(0), v, [0, 4, 2, 5]))
  y[at + 1] = scaled(shuffle(i8x4(0), v, [0, 6, 2, 7]))
}

kernel f16_to_e4m3(x: in f16, y: out i8) {
  let i = item_id()
  let bits = zext.i32(bitcast.i16(x[i]))
  let sign = bits >>_u 8 & 0x80
  let size = bits & 0x7fff
  let e = size - 0x2000
  let normal = e + 63 + (e >>_u 7 & 1) >>_u 7
  let subnormal = bitcast.i32(fcvt.f32(fabs(x[i])) + 16384.0) & 255
  let most = min_u(select(size <_u 0x2400, subnormal, normal), 126)
  y[i] = trunc(select(size >_u 0x7c00, 127, most) | sign)
}

; run: halu, vp1, ptx: @e4m3_to_f16 items=64 x=random(64, 101)
; run: halu, ptx: @f16_to_e4m3 items=65536 x=random(65536, 101)
; run: vp1: @f16_to_e4m3 items=2048 x=random(2048, 101)
