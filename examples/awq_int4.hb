; Dequantisation of four-bit weights to halves, as in AWQ, a quantiser for language
; models: subtract a zero point and multiply by a scale. Groups of 128 weights share both.
;
; A weight becomes a half without a conversion: 0x6400 is 1024 as a half, and its ulp is 1. A nibble in
; the lowest four bits therefore gives 1024 + w, and in the next four bits 1024 + 16 w. One multiply-add
; subtracts the excess, and for the second form also divides by 16. A word of eight weights gives four
; words of two halves: weights 0 and 4 (at bits 0 and 16), 1 and 5, 2 and 6, 3 and 7.
;
; Each item converts a word of eight weights. 16 items share a zero point and a scale.

; Converts to four words of two halves: weights 0 and 4, 1 and 5, 2 and 6, 3 and 7, each minus `base`.
fn unpacked(q: i32, base: f16x2, high_base: f16x2) -> (f16x2, f16x2, f16x2, f16x2) {
  const LOW: i32 = 0x000f000f
  const HIGH: i32 = 0x00f000f0
  const MAGIC: i32 = 0x64006400
  let r = q >>_u 8
  let (e, f) = (bitcast.f16x2(q & LOW | MAGIC), bitcast.f16x2(q & HIGH | MAGIC))
  let (g, h) = (bitcast.f16x2(r & LOW | MAGIC), bitcast.f16x2(r & HIGH | MAGIC))
  (e - base, ffma(f, 0.0625, high_base), g - base, ffma(h, 0.0625, high_base))
}

kernel awq_int4(packed: in i32, zeros: in f16, scales: in f16, weights: out f16x2 align 16) {
  let i = item_id()
  let (a, b, c, d) = unpacked(packed[i], 1024.0, -64.0)
  let group = i >>_u 4
  let zero = f16x2(zeros[group])
  let scale = f16x2(scales[group])
  let (e, f, g, h) = ((a - zero) * scale, (b - zero) * scale, (c - zero) * scale, (d - zero) * scale)
  let to = i * 4
  weights[to] = e
  weights[to + 1] = f
  weights[to + 2] = g
  weights[to + 3] = h
}

; run: halu, ptx: @awq_int4 items=3 packed=[0x76543210, 0xfedcba98, 0x0f1e2d3c] zeros=[7] scales=[0.0137] weights=zeros(12) -> weights=[0xa943ae24, 0xa704ad43, 0xa304ac62, 0x0000ab04, 0x2c622304, 0x2d432704, 0x2e242943, 0x2f042b04, 0x2e242c62, 0xad43ab04, 0x2f042d43, 0xae24ac62]
; run: halu, ptx: @awq_int4 items=300 packed=random(300, 421) zeros=random(19, 422) scales=random(19, 423) weights=zeros(1200)
