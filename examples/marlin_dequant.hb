; Weights of four bits to halves, as a fast product of matrices (Marlin) takes them from memory: w - 8 times a scale. The
; weights in the first two of four words below belong to one column of the matrix and the others to its neighbour, and the
; scales of both lie in the halves of a word; a scale is spread over a word by a selector of the operand.
;
; A weight becomes a half without a conversion: 0x6400 is 1024 in halves, where the last bit counts 1, so a nibble in the
; lowest four bits makes it 1024 + w, and in the next four bits 1024 + 16 w. What has been added too much is subtracted,
; of the latter after a sixteenth, in one multiply-add. So a word of eight weights gives four words of two halves: weights
; 0 and 4 (of bits 0 and 16), 1 and 5, 2 and 6, 3 and 7.
;
; An item takes a word of eight weights, and 16 items a pair of scales. The 8 is subtracted together with the 1024.
kernel @marlin_dequant(%packed: in i32, %scales: in f16x2, %weights: out f16x2 align 16) {
^entry:
  %i = item_id
  %low = const.i32 0x000f000f
  %high = const.i32 0x00f000f0
  %magic = const.i32 0x64006400
  %four = const.i32 4
  %eight = const.i32 8
  %q = load %packed[%i]
  %q2 = shr_u.i32 %q, %eight
  %a0 = and.i32 %q, %low
  %a1 = and.i32 %q, %high
  %a2 = and.i32 %q2, %low
  %a3 = and.i32 %q2, %high
  %b0 = or.i32 %a0, %magic
  %b1 = or.i32 %a1, %magic
  %b2 = or.i32 %a2, %magic
  %b3 = or.i32 %a3, %magic
  %e0 = bitcast.f16x2 %b0
  %e1 = bitcast.f16x2 %b1
  %e2 = bitcast.f16x2 %b2
  %e3 = bitcast.f16x2 %b3
  %base = const.f16x2 1032
  %sixteenth = const.f16x2 0.0625
  %high_base = const.f16x2 -72
  %w0 = fsub.f16x2 %e0, %base
  %w1 = ffma.f16x2 %e1, %sixteenth, %high_base
  %w2 = fsub.f16x2 %e2, %base
  %w3 = ffma.f16x2 %e3, %sixteenth, %high_base
  %group = shr_u.i32 %i, %four
  %s = load %scales[%group]
  %first = shuffle.f16x2 %s, %s, [0, 0]
  %second = shuffle.f16x2 %s, %s, [1, 1]
  %r0 = fmul.f16x2 %w0, %first
  %r1 = fmul.f16x2 %w1, %first
  %r2 = fmul.f16x2 %w2, %second
  %r3 = fmul.f16x2 %w3, %second
  %to = mul.i32 %i, %four
  store %r0, %weights[%to]
  store %r1, %weights[%to + 1]
  store %r2, %weights[%to + 2]
  store %r3, %weights[%to + 3]
  ret
}

; run: halu, ptx: @marlin_dequant items=3 packed=[0x76543210, 0xfedcba98, 0x0f1e2d3c] scales=[[0.0137, -2]] weights=zeros(12) -> weights=[0xab04af04, 0xa943ae24, 0x44004a00, 0x40004900, 0x2b040000, 0x2c622304, 0xca00c400, 0xcb00c600, 0x2d432b04, 0xae24ac62, 0xcb00c900, 0x4c004a00]
; run: halu, ptx: @marlin_dequant items=300 packed=random(300, 431) scales=random(19, 432) weights=zeros(1200)
