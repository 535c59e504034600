; Blocks of 32 weights of four bits with one scale, as in llama.cpp, to halves. Each item converts a block.
struct block { scale: f16, quants: i8[16] }

fn halves(a: i32, b: i32) -> f16x2 { f16x2(fcvt_from_s.f16(a - 8), fcvt_from_s.f16(b - 8)) }

kernel q4_0(blocks: in block, y: out f16x2) {
  let i = item_id()
  let d = f16x2(blocks[i].scale)
  unroll for k in 0..8 {
    let (a, b) = (zext.i32(blocks[i].quants[2 * k]), zext.i32(blocks[i].quants[2 * k + 1]))
    y[16 * i + k] = halves(a & 15, b & 15) * d
    y[16 * i + 8 + k] = halves(a >>_u 4, b >>_u 4) * d
  }
}
; run: halu, ptx: @q4_0 items=64 blocks=random(1152, 1) y=zeros(1024)
