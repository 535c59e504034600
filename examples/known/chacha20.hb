; Block function of ChaCha20 (RFC 8439): item i computes block i, 16 words, from key, counter and nonce in 11 words.

fn turned(a: i32, n: const) -> i32 { a << n | a >>_u (32 - n) }

fn quarter(a: i32, b: i32, c: i32, d: i32) -> (i32, i32, i32, i32) {
  let a1 = a + b
  let d1 = turned(d ^ a1, 16)
  let c1 = c + d1
  let b1 = turned(b ^ c1, 12)
  let a2 = a1 + b1
  let d2 = turned(d1 ^ a2, 8)
  let c2 = c1 + d2
  (a2, turned(b1 ^ c2, 7), c2, d2)
}

kernel chacha20(key: in i32, o: out i32) {
  let i = item_id()
  let at = i * 16
  var s: i32[16]
  s[0] = 0x61707865
  s[1] = 0x3320646e
  s[2] = 0x79622d32
  s[3] = 0x6b206574
  unroll for k in 0..8 { s[k + 4] = key[k] }
  s[12] = i
  unroll for k in 8..11 { s[k + 5] = key[k] }
  var v: i32[16]
  unroll for k in 0..16 { v[k] = s[k] }
  for round in 0..10 {
    ; Columns, then diagonals.
    unroll for turn in 0..2 {
      unroll for k in 0..4 {
        const P = 4 + (k + turn & 3)
        const Q = 8 + (k + 2 * turn & 3)
        const R = 12 + (k + 3 * turn & 3)
        let (a, b, c, d) = quarter(v[k], v[P], v[Q], v[R])
        v[k] = a
        v[P] = b
        v[Q] = c
        v[R] = d
      }
    }
  }
  unroll for k in 0..16 { o[at + k] = v[k] + s[k] }
}

; run: halu, vp1, ptx: @chacha20 items=8 key=random(11, 103)
; run: halu, vp1, ptx: @chacha20 items=8 key=random(11, 203)
