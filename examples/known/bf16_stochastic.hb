; Conversion from f32 to bfloat16 with stochastic rounding by a hash of the seed and the item. Infinities and NaNs are kept.
kernel bf16_sr(seed: i32, x: in f32, y: out bf16) {
  let i = item_id()
  let bits = bitcast.i32(x[i])
  let a = (i ^ seed) * 2654435761
  let b = (a ^ (a >>_u 15)) * 2246822507
  let rounded = bits + ((b ^ (b >>_u 13)) & 65535) >>_u 16
  let is_finite = bits & 0x7f800000 != 0x7f800000
  y[i] = bitcast(trunc.i16(select(is_finite, rounded, bits >>_u 16)))
}

; run: halu, vp1, ptx: @bf16_sr items=500 seed=77 x=random(500, 101)
; run: halu, vp1, ptx: @bf16_sr items=500 seed=78 x=random(500, 201)
