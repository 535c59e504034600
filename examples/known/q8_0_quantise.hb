; Quantisation to Q8_0 of llama.cpp: 32 floats become a scale as a half, and 32 bytes. Item i converts floats 32 i to 32 i + 31 to
; 34 bytes from byte 34 i on. The scale is the largest magnitude divided by 127; bytes are rounded to nearest, ties away from zero.

; Rounds to nearest, ties away from zero: adds the largest number below a half, with the sign of f.
fn rounded(f: f32) -> i8 {
  let half = bitcast.f32(bitcast.i32(f) & 0x80000000 | bitcast.i32(f32(0x3effffff)))
  trunc.i8(fcvt_to_s.i32(f + half))
}

kernel q8_0_quant(x: in f32, y: out i8) {
  let i = item_id()
  let at = i * 32
  var v: f32[32]
  unroll for k in 0..32 { v[k] = x[at + k] }
  var most = 0.0f32
  unroll for k in 0..32 { most = fmax(most, fabs(v[k])) }
  let d = most / 127.0
  let scale = select(d > 0.0, 1.0 / d, 0.0)
  let to = i * 34
  let bits = bitcast.i16(fcvt.f16(d))
  y[to] = trunc(bits)
  y[to + 1] = trunc(bits >>_u 8)
  unroll for k in 0..32 { y[to + (k + 2)] = rounded(v[k] * scale) }
}

; run: halu, ptx: @q8_0_quant items=24 x=random(768, 101)
; run: halu, ptx: @q8_0_quant items=24 x=random(768, 201)
