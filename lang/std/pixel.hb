; Bytes of pictures: widened, narrowed, divided and mixed. Each is exact for all values.

; Lanes 0 and 1 of four bytes, zero-extended.
fn low(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(v, i8x4(0), [0, 4, 1, 4])) }

; Lanes 2 and 3.
fn high(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(v, i8x4(0), [2, 4, 3, 4])) }

; Four bytes of the low bytes of `a` and `b`.
fn bytes(a: i16x2, b: i16x2) -> i8x4 { shuffle(bitcast.i8x4(a), bitcast.i8x4(b), [0, 2, 4, 6]) }

; Two pairs of signed numbers, clamped to 0 to 255.
fn bytes_clamped(a: i16x2, b: i16x2) -> i8x4 { bytes(clamp_s(a, 0, 255), clamp_s(b, 0, 255)) }

; a, but no less than `least` and no more than `most`: signed, and unsigned.
fn clamp_s<T>(a: T, least: T, most: T) -> T { min_s(max_s(a, least), most) }
fn clamp_u<T>(a: T, least: T, most: T) -> T { min_u(max_u(a, least), most) }

; a / 255 to nearest, of 0 to 65535 in i32; a product of two bytes is at most 65025.
fn div255(a: i32) -> i32 {
  let b = a + 128
  b + (b >>_u 8) >>_u 8
}

; The same of two numbers of 0 to 65025.
fn div255_pair(a: i16x2) -> i16x2 {
  let b = a + 128
  b + (b >>_u 8) >>_u 8
}
