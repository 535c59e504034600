; Weights of four bits, two in a byte, as the simplest format of quantised language models has them: from each nibble 8 is
; subtracted. A block is 32 weights in 16 bytes, the first 16 weights in the low nibbles and the others in the high ones.
; An item takes a block, in four words, and writes eight; the block's scale comes later, with the sum.
kernel @q4_0(%blocks: in i8x4, %weights: out i8x4) {
^entry:
  %i = item_id
  %four = const.i32 4
  %eight = const.i32 8
  %at = mul.i32 %i, %four
  %to = mul.i32 %i, %eight
  %nibble = const.i8x4 15
  %up = const.i8x4 4
  %middle = const.i8x4 8
  %q0 = load %blocks[%at]
  %q1 = load %blocks[%at + 1]
  %q2 = load %blocks[%at + 2]
  %q3 = load %blocks[%at + 3]
  %low0 = and.i8x4 %q0, %nibble
  %high0 = shr_u.i8x4 %q0, %up
  %a0 = sub_sat_s.i8x4 %low0, %middle
  %b0 = sub_sat_s.i8x4 %high0, %middle
  %low1 = and.i8x4 %q1, %nibble
  %high1 = shr_u.i8x4 %q1, %up
  %a1 = sub_sat_s.i8x4 %low1, %middle
  %b1 = sub_sat_s.i8x4 %high1, %middle
  %low2 = and.i8x4 %q2, %nibble
  %high2 = shr_u.i8x4 %q2, %up
  %a2 = sub_sat_s.i8x4 %low2, %middle
  %b2 = sub_sat_s.i8x4 %high2, %middle
  %low3 = and.i8x4 %q3, %nibble
  %high3 = shr_u.i8x4 %q3, %up
  %a3 = sub_sat_s.i8x4 %low3, %middle
  %b3 = sub_sat_s.i8x4 %high3, %middle
  store %a0, %weights[%to]
  store %a1, %weights[%to + 1]
  store %a2, %weights[%to + 2]
  store %a3, %weights[%to + 3]
  store %b0, %weights[%to + 4]
  store %b1, %weights[%to + 5]
  store %b2, %weights[%to + 6]
  store %b3, %weights[%to + 7]
  ret
}

; run: halu, vp1, ptx: @q4_0 items=2 blocks=[[0, 255, 128, 8], [80, 85, 111, 23], [205, 68, 46, 223], [85, 203, 142, 169], [146, 224, 148, 210], [213, 75, 49, 36], [243, 210, 72, 9], [116, 79, 28, 80]] weights=zeros(16) -> weights=[[-8, 7, -8, 0], [-8, -3, 7, -1], [5, -4, 6, 7], [-3, 3, 6, 1], [-8, 7, 0, -8], [-3, -3, -2, -7], [4, -4, -6, 5], [-3, 4, 0, 2], [-6, -8, -4, -6], [-3, 3, -7, -4], [-5, -6, 0, 1], [-4, 7, 4, -8], [1, 6, 1, 5], [5, -4, -5, -6], [7, 5, -4, -8], [-1, -4, -7, -3]]
; run: halu, vp1, ptx: @q4_0 items=301 blocks=random(1204, 301) weights=zeros(2408)
