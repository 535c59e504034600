; Steps of transforms, of any type that adds.

fn butterfly<T>(a: T, b: T) -> (T, T) { (a + b, a - b) }

; Four sums of Hadamard's transform, in the order of its rows 0, 1, 2, 3 by bits of the index.
fn hadamard4<T>(a: T, b: T, c: T, d: T) -> (T, T, T, T) {
  let (s, t) = butterfly(a, b)
  let (u, v) = butterfly(c, d)
  (s + u, t + v, s - u, t - v)
}

; The first and the second lanes of two pairs.
fn transpose2(a: i16x2, b: i16x2) -> (i16x2, i16x2) { (shuffle(a, b, [0, 2]), shuffle(a, b, [1, 3])) }
