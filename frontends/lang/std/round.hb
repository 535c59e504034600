; Divisions that say how they round.

; a / b rounded up, unsigned, of sums a + b - 1 below 2^32.
fn div_up(a: i32, b: i32) -> i32 { (a + b - 1) /_u b }

; a / b rounded to nearest, halves up, unsigned, of sums a + b / 2 below 2^32.
fn div_near(a: i32, b: i32) -> i32 { (a + (b >>_u 1)) /_u b }

; a / b rounded to minus infinity, signed, as `//` of Python; b is not 0.
fn div_floor(a: i32, b: i32) -> i32 {
  let q = a /_s b
  select(((a ^ b) <_s 0) & (q * b != a), q - 1, q)
}

; What `div_floor` leaves, of the sign of b, as `%` of Python; b is not 0.
fn rem_floor(a: i32, b: i32) -> i32 {
  let r = rem_s(a, b)
  select(((r ^ b) <_s 0) & (r != 0), r + b, r)
}

; The least multiple of n that is no less than a, of a power of two n, unsigned and modulo 2^32.
fn align_up(a: i32, n: i32) -> i32 { a + n - 1 & -n }

; a / 2^n rounded to minus infinity, signed.
fn shift_down<T>(a: T, n: T) -> T { a >>_s n }

; a / 2^n rounded toward zero, signed, of n up to 30.
fn shift_zero(a: i32, n: i32) -> i32 { a + (a >>_s 31 & (1 << n) - 1) >>_s n }

; a / 2^n rounded to nearest, halves up, signed.
fn shift_near<T>(a: T, n: T) -> T { round_shr_s(a, n) }

; a / 2^n rounded to nearest, halves up, unsigned.
fn shift_near_u<T>(a: T, n: T) -> T { round_shr_u(a, n) }

; a / 2^n rounded to nearest, halves to even, signed, of n of 1 to 30.
fn shift_even(a: i32, n: i32) -> i32 {
  let q = a >>_s n
  let rest = a - (q << n)
  let half = 1 << n - 1
  q + select((rest >_s half) | (rest == half) & (q & 1 != 0), 1, 0)
}
