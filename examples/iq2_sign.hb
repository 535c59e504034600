; Signs of quantised weights, as in the two-bit formats of language models. A table gives eight
; magnitudes, and a byte has a sign bit for each. The code expands each bit to a byte of ones, m. Then
; (g xor m) - m is g or -g. Each item computes eight weights in two words, with one byte of signs.
kernel iq2_sign(magnitudes: in i8x4, signs: in i8, weights: out i8x4) {
  let i = item_id()
  let at = i * 2
  let bits = i8x4(signs[i])
  let (a, b) = (magnitudes[at], magnitudes[at + 1])
  let low = mask_expand.i8x4(bits & i8x4(1, 2, 4, 8) != 0)
  let high = mask_expand.i8x4(bits & i8x4(16, 32, 64, 128) != 0)
  weights[at] = (a ^ low) - low
  weights[at + 1] = (b ^ high) - high
}

; run: halu, vp1, ptx: @iq2_sign items=3 magnitudes=[[8, 8, 25, 43], [8, 43, 25, 25], [8, 25, 8, 43], [8, 43, 43, 8], [8, 43, 8, 25], [8, 25, 8, 43]] signs=[178, 255, 0] weights=zeros(6) -> weights=[[8, -8, 25, 43], [-8, -43, 25, -25], [-8, -25, -8, -43], [-8, -43, -43, -8], [8, 43, 8, 25], [8, 25, 8, 43]]
; run: halu, vp1, ptx: @iq2_sign items=1001 magnitudes=random(2002, 291) signs=random(1001, 292) weights=zeros(2002)
