; Dequantisation of four-bit weights to halves, as in Marlin, a fast matrix product: (w - 8) times a scale.
; The first two of the four result words belong to one column of the matrix, and the other two to the next
; column. The scales of both columns are the halves of a word. An operand selector broadcasts a scale.
;
; A weight becomes a half without a conversion: 0x6400 is 1024 as a half, and its ulp is 1. A nibble in
; the lowest four bits therefore gives 1024 + w, and in the next four bits 1024 + 16 w. One multiply-add
; subtracts the excess, and for the second form also divides by 16. A word of eight weights gives four
; words of two halves: weights 0 and 4 (at bits 0 and 16), 1 and 5, 2 and 6, 3 and 7.
;
; Each item converts a word of eight weights. 16 items share a pair of scales. The subtraction of 1024 includes the 8.

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

kernel marlin_dequant(packed: in i32, scales: in f16x2, weights: out f16x2 align 16) {
  let i = item_id()
  let (a, b, c, d) = unpacked(packed[i], 1032.0, -72.0)
  let s = scales[i >>_u 4]
  let (first, second) = (shuffle(s, s, [0, 0]), shuffle(s, s, [1, 1]))
  let (e, f, g, h) = (a * first, b * first, c * second, d * second)
  let to = i * 4
  weights[to] = e
  weights[to + 1] = f
  weights[to + 2] = g
  weights[to + 3] = h
}

; run: halu, ptx: @marlin_dequant items=3 packed=[0x76543210, 0xfedcba98, 0x0f1e2d3c] scales=[[0.0137, -2]] weights=zeros(12) -> weights=[0xab04af04, 0xa943ae24, 0x44004a00, 0x40004900, 0x2b040000, 0x2c622304, 0xca00c400, 0xcb00c600, 0x2d432b04, 0xae24ac62, 0xcb00c900, 0x4c004a00]
; run: halu, ptx: @marlin_dequant items=300 packed=random(300, 431) scales=random(19, 432) weights=zeros(1200)
