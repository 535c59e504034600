; Signs of quantised weights, as the two-bit formats of language models keep them: eight magnitudes come from a table, and
; a byte says which are negative, a bit each. The bit is spread to a byte of ones, m, and (g xor m) - m is g or -g. An
; item takes eight weights, in two words, and their byte of signs.
kernel @iq2_sign(%magnitudes: in i8x4, %signs: in i8, %weights: out i8x4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %at = mul.i32 %i, %two
  %low_bits = const.i8x4 [1, 2, 4, 8]
  %high_bits = const.i8x4 [16, 32, 64, 128]
  %none = const.i8x4 0
  %s = load %signs[%i]
  %bits = splat.i8x4 %s
  %g0 = load %magnitudes[%at]
  %g1 = load %magnitudes[%at + 1]
  %s0 = and.i8x4 %bits, %low_bits
  %s1 = and.i8x4 %bits, %high_bits
  %n0 = icmp.ne.i8x4 %s0, %none
  %n1 = icmp.ne.i8x4 %s1, %none
  %m0 = mask_expand.i8x4 %n0
  %m1 = mask_expand.i8x4 %n1
  %x0 = xor.i8x4 %g0, %m0
  %x1 = xor.i8x4 %g1, %m1
  %w0 = sub.i8x4 %x0, %m0
  %w1 = sub.i8x4 %x1, %m1
  store %w0, %weights[%at]
  store %w1, %weights[%at + 1]
  ret
}

; run: halu, vp1, ptx: @iq2_sign items=3 magnitudes=[[8, 8, 25, 43], [8, 43, 25, 25], [8, 25, 8, 43], [8, 43, 43, 8], [8, 43, 8, 25], [8, 25, 8, 43]] signs=[178, 255, 0] weights=zeros(6) -> weights=[[8, -8, 25, 43], [-8, -43, 25, -25], [-8, -25, -8, -43], [-8, -43, -43, -8], [8, 43, 8, 25], [8, 25, 8, 43]]
; run: halu, vp1, ptx: @iq2_sign items=1001 magnitudes=random(2002, 291) signs=random(1001, 292) weights=zeros(2002)
