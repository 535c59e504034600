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

; Four words of two halves: weights 0 and 4, 1 and 5, 2 and 6, 3 and 7, each less `base`.
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
