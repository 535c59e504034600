; Dot product of a block of Q4_0 and a block of Q8_1: 32 weights of four bits times 32 bytes, times both scales. It subtracts
; the contribution of the offset 8 of the weights, which Q8_1 stores next to its scale. Each item computes one block.
kernel q4_q8_1(q: in i8x4, u: in i8x4, d4: in f16, ds8: in f16x2, o: out f32) {
  let i = item_id()
  let (at, row) = (i * 4, i * 8)
  var dot = 0
  unroll for k in 0..4 {
    let w = q[at + k]
    let (low, high) = (w & 15, w >>_u 4)
    let a = u[row + k]
    unroll for l in 0..4 { dot += zext.i32(extract(low, l)) * sext.i32(extract(a, l)) }
    let b = u[row + (k + 4)]
    unroll for l in 0..4 { dot += zext.i32(extract(high, l)) * sext.i32(extract(b, l)) }
  }
  let ds = ds8[i]
  let (d, s) = (fcvt.f32(extract(ds, 0)), fcvt.f32(extract(ds, 1)))
  o[i] = fcvt.f32(d4[i]) * (fcvt_from_s.f32(dot) * d - s * 8.0)
}

; run: halu, vp1, ptx: @q4_q8_1 items=16 q=random(64, 101) u=random(128, 102) d4=random(16, 103) ds8=random(16, 104)
; run: halu, vp1, ptx: @q4_q8_1 items=16 q=random(64, 201) u=random(128, 202) d4=random(16, 203) ds8=random(16, 204)
