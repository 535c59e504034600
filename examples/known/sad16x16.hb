; Sum of absolute differences of a block of 16 by 16 pixels and the blocks of a reference: item
; i compares the block that begins i pixels to the right. Its words may begin at any byte.
kernel sad16x16(w: i32, cur: in i8x4, ref: in i8, sad: out i32) {
  var (row, sum, c) = (0, 0, 0)
  let i = item_id()
  var r = i
  do {
    unroll for k in 0..4 { sum = sad_u(cur[c + k], load.i8x4(ref[r + 4 * k] align 1), sum) }
    c += w
    r += w << 2
    row += 1
  } while row <_s 16
  sad[i] = sum
}

; run: halu, vp1, ptx: @sad16x16 items=64 w=32 cur=random(4096, 103) ref=random(16384, 103)
