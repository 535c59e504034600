fn mix<T>(a: T, b: T, t: T) -> T {
  ffma(t, b - a, a)
}

fn butterfly(a: i16x2, b: i16x2) -> (i16x2, i16x2) {
  (a + b, a - b)
}

fn tap(row: in i8, at: i32, k: const) -> i32 {
  zext.i32(row[at + k]) * k
}

kernel first(x: in i16x2, row: in i8, y: out i16x2, z: out i32) {
  let i = item_id()
  let (s, d) = butterfly(x[2 * i], x[2 * i + 1])
  y[2 * i] = s
  y[2 * i + 1] = d
  z[i] = tap(row, i, 1) + tap(row, i, 2)
}
