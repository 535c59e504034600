; Dequantisation of six-bit weights, as in a format of quantised language models. One array has the
; four low bits, another the two high bits, and 32 is subtracted. 128 weights have 64 bytes of low bits
; and 32 bytes of high bits. Byte l of the high bits has those of weights l, l + 32, l + 64 and l + 96,
; lowest first. Their low bits are the low nibbles of bytes l and l + 32, and then the high nibbles.
;
; Each item computes 128 weights. One step computes four words of four weights.

fn weight(low: i8x4, high: i8x4) -> i8x4 { sub_sat_s(low | high & 48, 32) }

kernel q6_k(low_bits: in i8x4, high_bits: in i8x4, weights: out i8x4) {
  let i = item_id()
  let (low_at, high_at, to) = (i * 16, i * 8, i * 32)
  for k in 0..8 {
    let (at, top, first) = (low_at + k, high_at + k, to + k)
    let (a, b, h) = (low_bits[at], low_bits[at + 8], high_bits[top])
    weights[first] = weight(a & 15, h << 4)
    weights[first + 8] = weight(b & 15, h << 2)
    weights[first + 16] = weight(a >>_u 4, h)
    weights[first + 24] = weight(b >>_u 4, h >>_u 2)
  }
}

; run: halu, vp1, ptx: @q6_k items=1 low_bits=[[252, 63, 207, 48], [70, 205, 143, 147], [109, 217, 103, 100], [192, 153, 120, 96], [216, 110, 108, 196], [242, 158, 240, 55], [26, 171, 57, 211], [12, 125, 39, 247], [84, 216, 229, 58], [205, 193, 48, 167], [118, 170, 60, 60], [110, 21, 150, 46], [2, 234, 11, 140], [238, 142, 128, 250], [71, 129, 158, 159], [134, 59, 209, 4]] high_bits=[[4, 139, 106, 114], [139, 70, 159, 15], [106, 53, 117, 63], [201, 111, 133, 189], [221, 10, 40, 164], [218, 65, 192, 169], [66, 108, 53, 0], [80, 60, 24, 131]] weights=zeros(32) -> weights=[[-20, 31, 15, 0], [22, 13, 31, 19], [13, -7, -9, 20], [-16, 25, -8, -16], [-8, 14, -20, -28], [2, -2, -32, -9], [10, -21, -7, -29], [-20, -19, -25, 23], [-12, 8, 5, -22], [13, -15, 16, 23], [6, -6, -4, 28], [14, 21, -10, 30], [18, 10, 11, -4], [14, -18, -32, 10], [-25, 17, -2, -17], [-26, 27, 1, -28], [-17, -29, 12, 19], [-28, -20, -8, -23], [6, 29, 22, 22], [-20, 9, -25, 22], [-3, -26, 6, 12], [-1, -23, -17, 3], [-31, 10, 19, -19], [-16, 23, -14, -17], [-27, 13, -2, -13], [12, -4, 3, -22], [-9, -22, -13, -29], [22, -15, 9, 2], [16, -18, -32, 8], [30, -8, 24, 15], [-12, -8, -23, -23], [-8, -29, -19, 0]]
; run: halu, vp1, ptx: @q6_k items=101 low_bits=random(1616, 311) high_bits=random(808, 312) weights=zeros(3232)
