; Weights of four bits to halves, as a quantiser of language models (AWQ) has them: less a zero point and times a scale,
; which 128 weights share.
;
; A weight becomes a half without a conversion: 0x6400 is 1024 in halves, where the last bit counts 1, so a nibble in the
; lowest four bits makes it 1024 + w, and in the next four bits 1024 + 16 w. What has been added too much is subtracted,
; of the latter after a sixteenth, in one multiply-add. So a word of eight weights gives four words of two halves: weights
; 0 and 4 (of bits 0 and 16), 1 and 5, 2 and 6, 3 and 7.
;
; An item takes a word of eight weights, and 16 items a zero and a scale.
kernel @awq_int4(%packed: in i32, %zeros: in f16, %scales: in f16, %weights: out f16x2 align 16) {
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
  %base = const.f16x2 1024
  %sixteenth = const.f16x2 0.0625
  %high_base = const.f16x2 -64
  %w0 = fsub.f16x2 %e0, %base
  %w1 = ffma.f16x2 %e1, %sixteenth, %high_base
  %w2 = fsub.f16x2 %e2, %base
  %w3 = ffma.f16x2 %e3, %sixteenth, %high_base
  %group = shr_u.i32 %i, %four
  %z = load %zeros[%group]
  %s = load %scales[%group]
  %zz = splat.f16x2 %z
  %ss = splat.f16x2 %s
  %c0 = fsub.f16x2 %w0, %zz
  %r0 = fmul.f16x2 %c0, %ss
  %c1 = fsub.f16x2 %w1, %zz
  %r1 = fmul.f16x2 %c1, %ss
  %c2 = fsub.f16x2 %w2, %zz
  %r2 = fmul.f16x2 %c2, %ss
  %c3 = fsub.f16x2 %w3, %zz
  %r3 = fmul.f16x2 %c3, %ss
  %to = mul.i32 %i, %four
  store %r0, %weights[%to]
  store %r1, %weights[%to + 1]
  store %r2, %weights[%to + 2]
  store %r3, %weights[%to + 3]
  ret
}

; run: halu, ptx: @awq_int4 items=3 packed=[0x76543210, 0xfedcba98, 0x0f1e2d3c] zeros=[7] scales=[0.0137] weights=zeros(12) -> weights=[0xa943ae24, 0xa704ad43, 0xa304ac62, 0x0000ab04, 0x2c622304, 0x2d432704, 0x2e242943, 0x2f042b04, 0x2e242c62, 0xad43ab04, 0x2f042d43, 0xae24ac62]
; run: halu, ptx: @awq_int4 items=300 packed=random(300, 421) zeros=random(19, 422) scales=random(19, 423) weights=zeros(1200)
