; Weights of few bits.

; The four low and the four high halves of bytes, 0 to 15.
fn nibbles(v: i8x4) -> (i8x4, i8x4) { (v & 15, v >>_u 4) }

; The same, as signed numbers of four bits.
fn nibbles_signed(v: i8x4) -> (i8x4, i8x4) { ((v << 4) >>_s 4, v >>_s 4) }

; Bytes of low and high halves, the way back; of both the low four bits count.
fn nibbles_packed(low: i8x4, high: i8x4) -> i8x4 { low & 15 | high << 4 }

; Bytes k and k + 1, 0 to 255, as halves: under the exponent of 1024 a byte needs but a subtraction. k is 0 to 2.
fn halves(v: i8x4, k: const) -> f16x2 { bitcast.f16x2(shuffle(i8x4(0x64_i8), v, [k + 4, 0, k + 5, 0])) - 1024.0 }

; Bytes k and k + 1, -128 to 127, as halves. k is 0 to 2.
fn halves_signed(v: i8x4, k: const) -> f16x2 { bitcast.f16x2(shuffle(i8x4(0x64_i8), v ^ 0x80808080, [k + 4, 0, k + 5, 0])) - 1152.0 }

; Of eight numbers of four bits, the lowest number 0: numbers k and k + 4, 0 to 15, as halves. k is 0 to 3.
fn halves_of_nibbles(w: i32, k: const) -> f16x2 { bitcast.f16x2(w >>_u 4 * k & 0x000f000f | 0x64006400) - 1024.0 }

; The same of numbers that are stored with 8 added: -8 to 7.
fn halves_of_nibbles_signed(w: i32, k: const) -> f16x2 { bitcast.f16x2(w >>_u 4 * k & 0x000f000f | 0x64006400) - 1032.0 }

; `sum` and the four products of signed bytes, added modulo 2^32.
fn dot_s(a: i8x4, b: i8x4, sum: i32) -> i32 {
  var s = sum
  unroll for k in 0..4 { s += sext.i32(extract(a, k)) * sext.i32(extract(b, k)) }
  s
}
