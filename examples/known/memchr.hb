; First position of a byte in a row of `n` words, or -1. The loop compares four bytes at a time and ends at the first match.
kernel memchr(c: i8, n: i32, s: in i8x4, at: out i32) {
  var k = 0
  let i = item_id()
  let wanted = i8x4(c)
  var word = i * n
  do {
    let same = s[word] == wanted
    if any(same) {
      let bits = bitcast.i32(mask_expand.i8x4(same))
      let lowest = bits & -bits
      let lane = select(lowest == 1, 0, select(lowest == 256, 1, select(lowest == 65536, 2, 3)))
      at[i] = (k << 2) + lane
      return
    }
    k += 1
    word += 1
  } while k <_s n
  at[i] = -1
}

; run: halu, vp1, ptx: @memchr items=16 c=77 n=16 s=random(256, 101)
; run: halu, vp1, ptx: @memchr items=16 c=77 n=16 s=random(256, 201)
