; The functions of `std/load` load and store with conversion. The index of an access counts elements of the buffer.

include "std/pixel"

; Loads a byte, 0 to 255.
fn load_u8(x: in i8, i: i32) -> i32 { zext(x[i]) }

; Loads a byte, -128 to 127.
fn load_s8(x: in i8, i: i32) -> i32 { sext(x[i]) }

; Loads 16 bits, 0 to 65535.
fn load_u16(x: in i16, i: i32) -> i32 { zext(x[i]) }

; Loads 16 bits, -32768 to 32767.
fn load_s16(x: in i16, i: i32) -> i32 { sext(x[i]) }

; Loads a half.
fn load_f16(x: in f16, i: i32) -> f32 { fcvt(x[i]) }

; Loads a bfloat16, the upper half of an `f32`.
fn load_bf16(x: in bf16, i: i32) -> f32 { fcvt(x[i]) }

; Loads four bytes from any address, 0 to 255: bytes i and i + 1, then i + 2 and i + 3.
fn load4_u8(x: in i8, i: i32) -> (i16x2, i16x2) {
  let v = load.i8x4(x[i] align 1)
  (low(v), high(v))
}

; Loads four bytes from any address, -128 to 127: bytes i and i + 1, then i + 2 and i + 3.
fn load4_s8(x: in i8, i: i32) -> (i16x2, i16x2) {
  let v = load.i8x4(x[i] align 1)
  (low_s(v), high_s(v))
}

; Stores a number as a half, rounded to nearest, ties to even.
fn store_f16(a: f32, y: out f16, i: i32) { y[i] = fcvt(a) }

; Stores a signed number as a byte, clamped to 0 to 255.
fn store_u8(a: i32, y: out i8, i: i32) { y[i] = byte_clamped(a) }
