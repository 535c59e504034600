; The functions of `std/transform` are steps of transforms, for any type with addition.

; Returns the sum and the difference. Error: for floats, one rounding.
fn butterfly<T>(a: T, b: T) -> (T, T) { (a + b, a - b) }

; Returns the four sums of the Hadamard transform, with rows 0, 1, 2, 3 in natural order. Error: for floats, two roundings.
fn hadamard4<T>(a: T, b: T, c: T, d: T) -> (T, T, T, T) {
  let (s, t) = butterfly(a, b)
  let (u, v) = butterfly(c, d)
  (s + u, t + v, s - u, t - v)
}

; Returns the 4-point inverse transform of H.264, before the rounding shift. Its halves are shifts.
fn idct4<T>(a: T, b: T, c: T, d: T) -> (T, T, T, T) {
  let (s, t) = butterfly(a, c)
  let (u, v) = ((b >>_s 1) - d, b + (d >>_s 1))
  (s + v, t + u, t - u, s - v)
}

; Returns the first lanes and the second lanes of two pairs.
fn transpose2(a: i16x2, b: i16x2) -> (i16x2, i16x2) { (shuffle(a, b, [0, 2]), shuffle(a, b, [1, 3])) }

; Returns the product of two complex numbers; lane 0 is real and lane 1 imaginary. Error: two roundings per lane.
fn cmul(a: f16x2, b: f16x2) -> f16x2 {
  let turned = shuffle(b, b, [1, 0]) * f16x2(-1.0, 1.0)
  ffma(shuffle(a, a, [0, 0]), b, shuffle(a, a, [1, 1]) * turned)
}

; Returns an FFT butterfly, a + w b and a - w b of complex numbers. Error: three roundings per lane.
fn butterfly_fft(a: f16x2, b: f16x2, w: f16x2) -> (f16x2, f16x2) { butterfly(a, cmul(w, b)) }
