; Adler-32 checksum: item i computes a message of `len` bytes. The remainder modulo 65521 uses the upper half of a product.

fn modulo(a: i32) -> i32 { a - (mul_hi_u(a, 2147975281) >>_u 15) * 65521 }

kernel adler32(len: i32, m: in i8, o: out i32) {
  let i = item_id()
  var (k, a, b, at) = (0, 1, 0, i * len)
  do {
    a += zext.i32(m[at])
    b += a
    at += 1
    k += 1
  } while k <_s len
  o[i] = modulo(b) << 16 | modulo(a)
}

; run: halu, ptx: @adler32 items=8 len=1000 m=random(8000, 101)
; run: vp1: @adler32 items=8 len=200 m=random(1600, 101)
