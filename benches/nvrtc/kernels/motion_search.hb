; Search for a block of 4 by 4 pixels in `words` words to the right: the least sum of absolute differences and its place. Each item
; searches for a block. Rows are `w` words apart.
kernel motion_search(frame: in i8x4, before: in i8x4, w: i32, words: i32, least: out i32, place: out i32) {
  let i = item_id()
  var (best, found) = (-1i32, 0)
  for x in 0..words {
    var sums: i32[4]
    unroll for r in 0..4 {
      let (block, a, b) = (frame[i + r * w], before[i + x + r * w], before[i + x + r * w + 1])
      unroll for k in 0..4 { sums[k] = sad_u(block, shuffle(a, b, [k, k + 1, k + 2, k + 3]), sums[k]) }
    }
    unroll for k in 0..4 {
      if sums[k] <_u best {
        best = sums[k]
        found = 4 * x + k
      }
    }
  }
  least[i] = best
  place[i] = found
}
; run: halu, ptx: @motion_search items=64 frame=random(300, 1) before=random(300, 2) w=72 words=4 least=zeros(64) place=zeros(64)
