; Weights of few bits.

; The four low and the four high halves of bytes, 0 to 15.
fn nibbles(v: i8x4) -> (i8x4, i8x4) { (v & 15, v >>_u 4) }

; The same, as signed numbers of four bits.
fn nibbles_signed(v: i8x4) -> (i8x4, i8x4) { ((v << 4) >>_s 4, v >>_s 4) }

; Two numbers of 0 to 255 in lanes k and k + 1 as halves: under the exponent of 1024 a byte needs but a subtraction.
fn halves(v: i8x4, k: const) -> f16x2 { bitcast.f16x2(shuffle(v, i8x4(0x64_i8), [k, 4, k + 1, 4])) - 1024.0 }

; Sums of products of signed bytes, on any target.
fn dot_s(a: i8x4, b: i8x4, sum: i32) -> i32 {
  var s = sum
  unroll for k in 0..4 { s += sext.i32(extract(a, k)) * sext.i32(extract(b, k)) }
  s
}
