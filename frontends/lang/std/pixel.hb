; The functions of `std/pixel` widen, narrow, divide and mix the bytes of pictures.

; Returns bytes 0 and 1, zero-extended: lane k is byte k.
fn low(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(v, i8x4(0), [0, 4, 1, 4])) }

; Returns bytes 2 and 3, zero-extended.
fn high(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(v, i8x4(0), [2, 4, 3, 4])) }

; Returns bytes 0 and 1, sign-extended.
fn low_s(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(i8x4(0), v, [0, 4, 0, 5])) >>_s 8 }

; Returns bytes 2 and 3, sign-extended.
fn high_s(v: i8x4) -> i16x2 { bitcast.i16x2(shuffle(i8x4(0), v, [0, 6, 0, 7])) >>_s 8 }

; Packs four bytes: the low bytes of `a`, then those of `b`.
fn bytes(a: i16x2, b: i16x2) -> i8x4 { shuffle(bitcast.i8x4(a), bitcast.i8x4(b), [0, 2, 4, 6]) }

; Packs four signed numbers to bytes, clamped to 0 to 255.
fn bytes_clamped(a: i16x2, b: i16x2) -> i8x4 { bytes(clamp_s(a, 0, 255), clamp_s(b, 0, 255)) }

; Packs four signed numbers to bytes, clamped to -128 to 127.
fn bytes_clamped_s(a: i16x2, b: i16x2) -> i8x4 { bytes(clamp_s(a, -128, 127), clamp_s(b, -128, 127)) }

; Returns a signed number, clamped to 0 to 255.
fn byte_clamped(a: i32) -> i8 { trunc(clamp_s(a, 0, 255)) }

; Packs two signed numbers, clamped to -32768 to 32767; `a` is lane 0.
fn pair_clamped(a: i32, b: i32) -> i16x2 { i16x2(narrow_sat_s(a), narrow_sat_s(b)) }

; Packs two signed numbers, clamped to 0 to 65535; `a` is lane 0.
fn pair_clamped_u(a: i32, b: i32) -> i16x2 { i16x2(narrow_sat_u(a), narrow_sat_u(b)) }

; Returns a, clamped to `least` and `most`, signed.
fn clamp_s<T>(a: T, least: T, most: T) -> T { min_s(max_s(a, least), most) }

; Returns a, clamped to `least` and `most`, unsigned.
fn clamp_u<T>(a: T, least: T, most: T) -> T { min_u(max_u(a, least), most) }

; Returns a / 255, rounded to nearest, for a of 0 to 65535. A product of two bytes is at most 65025.
fn div255(a: i32) -> i32 {
  let b = a + 128
  b + (b >>_u 8) >>_u 8
}

; Returns each lane / 255, rounded to nearest, for lanes of 0 to 65025.
fn div255_pair(a: i16x2) -> i16x2 {
  let b = a + 128
  b + (b >>_u 8) >>_u 8
}

; Mixes lanes of 0 to 255 by a weight of 0 to 255: (below (255 - weight) + above weight) / 255, rounded to nearest.
fn mix255(below: i16x2, above: i16x2, weight: i16x2) -> i16x2 { div255_pair(below * (255 - weight) + above * weight) }
