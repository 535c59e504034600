; The functions of `std/quant` convert quantised weights.

; Returns the low and the high nibbles of four bytes, 0 to 15.
fn nibbles(v: i8x4) -> (i8x4, i8x4) { (v & 15, v >>_u 4) }

; Returns the low and the high nibbles of four bytes, -8 to 7.
fn nibbles_signed(v: i8x4) -> (i8x4, i8x4) { ((v << 4) >>_s 4, v >>_s 4) }

; Packs low and high nibbles into bytes; only the low four bits of each operand count.
fn nibbles_packed(low: i8x4, high: i8x4) -> i8x4 { low & 15 | high << 4 }

; Converts bytes k and k + 1, 0 to 255, to halves. A byte in the significand of 1024 needs only a subtraction. k is 0 to 2.
fn halves(v: i8x4, k: const) -> f16x2 { bitcast.f16x2(shuffle(i8x4(0x64_i8), v, [k + 4, 0, k + 5, 0])) - 1024.0 }

; Converts bytes k and k + 1, -128 to 127, to halves. k is 0 to 2.
fn halves_signed(v: i8x4, k: const) -> f16x2 { bitcast.f16x2(shuffle(i8x4(0x64_i8), v ^ 0x80808080, [k + 4, 0, k + 5, 0])) - 1152.0 }

; Converts nibbles k and k + 4 of eight, counted from the lowest, 0 to 15, to halves. k is 0 to 3.
fn halves_of_nibbles(w: i32, k: const) -> f16x2 { bitcast.f16x2(w >>_u 4 * k & 0x000f000f | 0x64006400) - 1024.0 }

; Converts nibbles k and k + 4 of eight, which are stored with 8 added, to halves: -8 to 7. k is 0 to 3.
fn halves_of_nibbles_signed(w: i32, k: const) -> f16x2 { bitcast.f16x2(w >>_u 4 * k & 0x000f000f | 0x64006400) - 1032.0 }

; Returns the dot product of four signed bytes plus `sum`, modulo 2^32.
fn dot_s(a: i8x4, b: i8x4, sum: i32) -> i32 {
  var s = sum
  unroll for k in 0..4 { s += sext.i32(extract(a, k)) * sext.i32(extract(b, k)) }
  s
}
