; Dequantisation of four-bit weights, two in a byte, as in the simplest format of quantised language models: subtracts 8 from
; each nibble. A block has 32 weights in 16 bytes: the first 16 weights in the low nibbles, the others in the high nibbles.
; Each item reads a block of four words and writes eight words. The scale of the block is applied later, to the sum.
kernel q4_0(blocks: in i8x4, weights: out i8x4) {
  let i = item_id()
  let (at, to) = (i * 4, i * 8)
  var q: i8x4[4]
  unroll for k in 0..4 { q[k] = blocks[at + k] }
  unroll for k in 0..4 { weights[to + k] = sub_sat_s(q[k] & 15, 8) }
  unroll for k in 0..4 { weights[to + (4 + k)] = sub_sat_s(q[k] >>_u 4, 8) }
}

; run: halu, vp1, ptx: @q4_0 items=2 blocks=[[0, 255, 128, 8], [80, 85, 111, 23], [205, 68, 46, 223], [85, 203, 142, 169], [146, 224, 148, 210], [213, 75, 49, 36], [243, 210, 72, 9], [116, 79, 28, 80]] weights=zeros(16) -> weights=[[-8, 7, -8, 0], [-8, -3, 7, -1], [5, -4, 6, 7], [-3, 3, 6, 1], [-8, 7, 0, -8], [-3, -3, -2, -7], [4, -4, -6, 5], [-3, 4, 0, 2], [-6, -8, -4, -6], [-3, 3, -7, -4], [-5, -6, 0, 1], [-4, 7, 4, -8], [1, 6, 1, 5], [5, -4, -5, -6], [7, 5, -4, -8], [-1, -4, -7, -3]]
; run: halu, vp1, ptx: @q4_0 items=301 blocks=random(1204, 301) weights=zeros(2408)
