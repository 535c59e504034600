; The functions of `std/round` divide integers with a defined rounding.

; Returns a / b rounded up, unsigned, for a + b - 1 below 2^32.
fn div_up(a: i32, b: i32) -> i32 { (a + b - 1) /_u b }

; Returns a / b rounded to nearest, ties up, unsigned, for a + b / 2 below 2^32.
fn div_near(a: i32, b: i32) -> i32 { (a + (b >>_u 1)) /_u b }

; Returns a / b rounded toward minus infinity, signed, like `//` of Python; b is not 0.
fn div_floor(a: i32, b: i32) -> i32 {
  let q = a /_s b
  select(((a ^ b) <_s 0) & (q * b != a), q - 1, q)
}

; Returns the remainder of `div_floor`, with the sign of b, like `%` of Python; b is not 0.
fn rem_floor(a: i32, b: i32) -> i32 {
  let r = rem_s(a, b)
  select(((r ^ b) <_s 0) & (r != 0), r + b, r)
}

; Returns the least multiple of n that is at least a, for a power of two n, unsigned and modulo 2^32.
fn align_up(a: i32, n: i32) -> i32 { a + n - 1 & -n }

; Returns a / 2^n rounded toward minus infinity, signed.
fn shift_down<T>(a: T, n: T) -> T { a >>_s n }

; Returns a / 2^n rounded toward zero, signed, for n up to 30.
fn shift_zero(a: i32, n: i32) -> i32 { a + (a >>_s 31 & (1 << n) - 1) >>_s n }

; Returns a / 2^n rounded to nearest, ties up, signed.
fn shift_near<T>(a: T, n: T) -> T { round_shr_s(a, n) }

; Returns a / 2^n rounded to nearest, ties up, unsigned.
fn shift_near_u<T>(a: T, n: T) -> T { round_shr_u(a, n) }

; Returns a / 2^n rounded to nearest, ties to even, signed, for n from 1 to 30.
fn shift_even(a: i32, n: i32) -> i32 {
  let q = a >>_s n
  let rest = a - (q << n)
  let half = 1 << n - 1
  q + select((rest >_s half) | (rest == half) & (q & 1 != 0), 1, 0)
}
