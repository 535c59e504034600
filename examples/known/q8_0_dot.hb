; Dot product of a row of Q8_0 blocks and a vector of Q8_0 blocks: item i computes row i, which has `nb` blocks of
; 34 bytes. The products and sums of bytes are integers; the sum of each block is multiplied by both scales in f32.

fn word(p: in i8, at: i32, k: const) -> i8x4 {
  concat.i8x4(load.i16(p[at + k] align 2), load.i16(p[at + (k + 2)] align 2))
}

kernel dot_q8(nb: i32, x: in i8 align 2, y: in i8 align 2, s: out f32) {
  let i = item_id()
  var (b, sum, p, q) = (0, 0.0f32, i * nb * 34, 0)
  do {
    let dx = fcvt.f32(load.f16(x[p] align 2))
    let dy = fcvt.f32(load.f16(y[q] align 2))
    var dot = 0
    unroll for k in 0..8 {
      let (u, v) = (word(x, p, 4 * k + 2), word(y, q, 4 * k + 2))
      unroll for l in 0..4 { dot += sext.i32(extract(u, l)) * sext.i32(extract(v, l)) }
    }
    sum += fcvt_from_s.f32(dot) * (dx * dy)
    p += 34
    q += 34
    b += 1
  } while b <_s nb
  s[i] = sum
}

; run: halu, vp1, ptx: @dot_q8 items=12 nb=4 x=random(1632, 101) y=random(136, 101)
; run: halu, vp1, ptx: @dot_q8 items=12 nb=4 x=random(1632, 201) y=random(136, 201)
