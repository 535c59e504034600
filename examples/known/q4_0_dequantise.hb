; Dequantisation of Q4_0 of llama.cpp to halves. A block has 18 bytes: a scale as a half, and 32 weights of four bits.
; Item i converts block i to 16 words. A weight below the exponent of 1024, 0x6400, becomes a half by one subtraction.

struct block { d: f16, q: i8[16] }

; Two halves from lane k of w on, each 1024 plus a weight.
fn weights(w: i8x4, k: const, d: f16x2) -> f16x2 {
  (bitcast.f16x2(shuffle(w, i8x4(0x64_i8), [k, 4, k + 1, 4])) - 1032.0) * d
}

kernel q4_0_deq(q: in block, y: out f16x2) {
  let i = item_id()
  let d = f16x2(q[i].d)
  let at = i * 16
  unroll for k in 0..4 {
    let both = concat.i32(load.i16(q[i].q[4 * k]), load.i16(q[i].q[4 * k + 2]))
    unroll for half in 0..2 {
      let w: i8x4 = bitcast((if half == 0 { both } else { both >>_u 4 }) & 0x0f0f0f0f)
      unroll for l in 0..2 { y[at + (8 * half + 2 * k + l)] = weights(w, 2 * l, d) }
    }
  }
}

; run: halu, vp1, ptx: @q4_0_deq items=32 q=random(576, 101)
; run: halu, vp1, ptx: @q4_0_deq items=32 q=random(576, 201)
