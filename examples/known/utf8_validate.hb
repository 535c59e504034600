; UTF-8 validation with the three tables of 16 entries by Keiser and Lemire. Item i validates the 16
; bytes of block i + 1, after the end of block i, and stores a byte that is not 0 if they are invalid.

const FIRST = i8x16(2, 2, 2, 2, 2, 2, 2, 2, 128, 128, 128, 128, 33, 1, 21, 73)
const LOW = i8x16(231, 163, 131, 131, 139, 203, 203, 203, 203, 203, 203, 203, 203, 219, 203, 203)
const SECOND = i8x16(1, 1, 1, 1, 1, 1, 1, 1, 230, 174, 186, 186, 1, 1, 1, 1)

; The bytes k positions before those of b.
fn before(a: i8x16, b: i8x16, k: const) -> i8x16 {
  const n = 16 - k
  shuffle(a, b, [n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15])
}

kernel utf8_kl(s: in i8x16, err: out i8) {
  let i = item_id()
  let (a, b) = (s[i], s[i + 1])
  let (p, q, r) = (before(a, b, 1), before(a, b, 2), before(a, b, 3))
  let wrong = swizzle(FIRST, p >>_u 4) & swizzle(LOW, p & 15) & swizzle(SECOND, b >>_u 4)
  let longer = sub_sat_u(q, 96) | sub_sat_u(r, 112)
  err[i] = select(any((longer & 128 ^ wrong) != 0), 1, 0)
}

; run: halu, vp1, ptx: @utf8_kl items=34 s=random(35, 101)
; run: halu, vp1, ptx: @utf8_kl items=34 s=random(35, 201)
