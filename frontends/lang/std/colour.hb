; The functions of `std/colour` convert 8-bit RGB to luma and chroma of limited range (16 to 235, 16 to 240) and back. The functions of `std/colour` use the usual integer formulas of decoders with 8-bit
; coefficients. The suffixes `_601` and `_709` select the matrices of BT.601 and BT.709. The errors are measured against the matrix in real numbers, over all bytes.

include "std/pixel"

; Returns the luma of a colour. Error: 0.76.
fn luma_601(r: i32, g: i32, b: i32) -> i32 { (r * 66 + g * 129 + b * 25 + 128 >>_u 8) + 16 }

; Returns the chroma of a colour, U and V. Error: 0.99.
fn chroma_601(r: i32, g: i32, b: i32) -> (i32, i32) {
  ((b * 112 - r * 38 - g * 74 + 128 >>_s 8) + 128, (r * 112 - g * 94 - b * 18 + 128 >>_s 8) + 128)
}

; Returns red, green and blue of a colour in luma and chroma, not clamped. Error: 0.78.
fn rgb_601(y: i32, u: i32, v: i32) -> (i32, i32, i32) {
  let (c, d, e) = ((y - 16) * 298 + 128, u - 128, v - 128)
  (c + e * 409 >>_s 8, c - d * 100 - e * 208 >>_s 8, c + d * 516 >>_s 8)
}

; Returns the luma of a colour. Error: 0.88.
fn luma_709(r: i32, g: i32, b: i32) -> i32 { (r * 47 + g * 157 + b * 16 + 128 >>_u 8) + 16 }

; Returns the chroma of a colour, U and V. Error: 1.17.
fn chroma_709(r: i32, g: i32, b: i32) -> (i32, i32) {
  ((b * 112 - r * 26 - g * 86 + 128 >>_s 8) + 128, (r * 112 - g * 102 - b * 10 + 128 >>_s 8) + 128)
}

; Returns red, green and blue of a colour in luma and chroma, not clamped. Error: 0.99.
fn rgb_709(y: i32, u: i32, v: i32) -> (i32, i32, i32) {
  let (c, d, e) = ((y - 16) * 298 + 128, u - 128, v - 128)
  (c + e * 459 >>_s 8, c - d * 55 - e * 136 >>_s 8, c + d * 541 >>_s 8)
}

; Returns the RGBA pixel for luma and chroma, clamped, with 255 as alpha (BT.601).
fn pixel_601(y: i32, u: i32, v: i32) -> i8x4 {
  let (r, g, b) = rgb_601(y, u, v)
  i8x4(byte_clamped(r), byte_clamped(g), byte_clamped(b), 255)
}

; Returns the RGBA pixel for luma and chroma, clamped, with 255 as alpha (BT.709).
fn pixel_709(y: i32, u: i32, v: i32) -> i8x4 {
  let (r, g, b) = rgb_709(y, u, v)
  i8x4(byte_clamped(r), byte_clamped(g), byte_clamped(b), 255)
}
