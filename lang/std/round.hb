; Divisions that say how they round.

; a / b rounded up, unsigned, of sums a + b - 1 below 2^32.
fn div_up(a: i32, b: i32) -> i32 { (a + b - 1) /_u b }

; a / b rounded to nearest, halves up, unsigned, of sums a + b / 2 below 2^32.
fn div_near(a: i32, b: i32) -> i32 { (a + (b >>_u 1)) /_u b }

; a / 2^n rounded to minus infinity, toward zero, and to nearest with halves up; signed.
fn shift_down<T>(a: T, n: T) -> T { a >>_s n }
fn shift_zero(a: i32, n: i32) -> i32 { a + (a >>_s 31 & (1 << n) - 1) >>_s n }
fn shift_near<T>(a: T, n: T) -> T { round_shr_s(a, n) }
