; Smith-Waterman alignment with affine gaps, four alignments for each group, in the bytes of a word: the best score of each. Item i
; has letter i of a, as a row of the score table. The group computes the matrix by antidiagonals: item i computes column d - i in step
; d. The row above is in shared memory, with separate arrays for even and odd steps, so that one barrier for each step is enough.
;
; The group size is the number of letters of a, a power of two, at most 256. b has `length` letters, at least 1.
; Sums saturate in a byte: a score of 127 may be larger. Pad a with a letter that b does not contain, such as 255.
kernel smith_waterman(length: i32, match: i8x4, mismatch: i8x4, open: i8x4, extend: i8x4, a: in i8x4, b: in i8x4, score: out i8x4) {
  shared best: i8x4[514]
  shared gap: i8x4[514]
  shared most: i8x4[256]
  let (l, i, g, size) = (local_id(), item_id(), group_id(), group_size())
  let first = l == 0
  let letter = a[i]
  let start = g * length
  let steps = size + length - 1
  if first {
    ; Above the first row, which only the first item reads, no alignment has started.
    best[0] = 0
    gap[0] = 0
    best[257] = 0
    gap[257] = 0
  }
  var (d, from, to, diagonal, left, gap_left, top) = (0, 0, 257, 0i8x4, 0i8x4, 0i8x4, 0i8x4)
  do {
    let j = d - l
    if j <_u length {
      let at = from + l
      let (above, gap_above) = (best[at], gap[at])
      let s = select(letter == b[start + j], match, mismatch)
      let right = max_s(sub_sat_s(left, open), sub_sat_s(gap_left, extend))
      let down = max_s(sub_sat_s(above, open), sub_sat_s(gap_above, extend))
      let here = max_s(max_s(max_s(add_sat_s(diagonal, s), right), down), 0)
      let place = to + l
      best[place + 1] = here
      gap[place + 1] = down
      diagonal = above
      left = here
      gap_left = right
      top = max_s(top, here)
    }
    barrier()
    let other = from
    from = to
    to = other
    d += 1
  } while d <_u steps
  most[l] = top
  barrier()
  var h = size >>_u 1
  while h != 0 {
    if l <_u h { most[l] = max_s(most[l], most[l + h]) }
    barrier()
    h = h >>_u 1
  }
  if first { score[g] = most[0] }
}
; run: halu, ptx: @smith_waterman grid=2 block=32 length=50 match=5 mismatch=-4 open=[11, 127, 0, -128] extend=[1, 2, 127, -1] a=random(64, 27) b=random(100, 28) score=zeros(2)
; run: halu, ptx: @smith_waterman grid=2 block=32 length=24 match=[5, 5, 2, 6] mismatch=[-4, -4, -1, -3] open=[10, 10, 3, 8] extend=[1, 1, 1, 2] a=[[71, 67, 65, 67], [65, 65, 67, 71], [84, 67, 84, 84], [84, 67, 65, 84], [65, 71, 67, 71], [67, 71, 65, 71], [71, 84, 84, 84], [67, 71, 84, 67], [65, 65, 84, 71], [67, 65, 67, 65], [65, 67, 84, 65], [84, 71, 65, 84], [71, 65, 71, 67], [84, 67, 84, 84], [71, 67, 84, 71], [84, 65, 65, 71], [67, 84, 71, 84], [84, 84, 67, 67], [67, 84, 71, 84], [65, 71, 84, 65], [84, 71, 71, 84], [71, 71, 67, 84], [65, 65, 71, 65], [65, 84, 71, 71], [71, 71, 71, 71], [84, 67, 71, 71], [67, 84, 67, 65], [84, 65, 65, 84], [65, 84, 71, 65], [65, 67, 65, 65], [84, 65, 67, 71], [65, 65, 67, 67], [65, 67, 67, 65], [84, 67, 71, 65], [71, 65, 67, 71], [84, 67, 71, 67], [67, 84, 67, 65], [67, 67, 71, 65], [67, 84, 67, 71], [65, 67, 71, 65], [65, 67, 84, 65], [71, 65, 67, 67], [65, 71, 71, 67], [65, 67, 71, 65], [71, 71, 84, 84], [67, 65, 65, 67], [71, 84, 84, 71], [71, 71, 84, 65], [84, 71, 71, 65], [71, 65, 84, 84], [67, 67, 65, 71], [67, 65, 84, 67], [71, 84, 65, 71], [67, 71, 65, 84], [71, 84, 65, 67], [71, 67, 84, 255], [65, 71, 65, 255], [84, 65, 67, 255], [67, 65, 255, 255], [65, 84, 255, 255], [67, 67, 255, 255], [67, 255, 255, 255], [84, 255, 255, 255], [84, 255, 255, 255]] b=[[84, 67, 84, 84], [84, 67, 65, 84], [65, 71, 67, 71], [67, 71, 65, 71], [67, 71, 84, 84], [65, 65, 84, 67], [67, 65, 84, 71], [65, 71, 67, 65], [84, 71, 84, 65], [71, 67, 65, 84], [84, 67, 65, 67], [71, 65, 71, 84], [84, 84, 84, 71], [67, 84, 67, 71], [84, 84, 65, 84], [67, 71, 71, 67], [65, 71, 71, 84], [71, 67, 67, 65], [65, 65, 71, 84], [71, 84, 84, 84], [71, 71, 71, 65], [84, 67, 67, 71], [67, 84, 71, 71], [84, 65, 71, 71], [71, 65, 84, 71], [84, 67, 84, 65], [67, 84, 71, 71], [67, 67, 67, 65], [67, 84, 71, 65], [65, 67, 67, 71], [65, 67, 71, 84], [71, 65, 84, 67], [65, 65, 67, 84], [65, 71, 71, 71], [71, 67, 71, 67], [67, 71, 84, 65], [71, 65, 65, 67], [71, 84, 84, 84], [84, 71, 71, 67], [71, 71, 71, 84], [67, 65, 65, 67], [67, 67, 65, 67], [71, 65, 84, 71], [67, 84, 65, 67], [71, 67, 65, 84], [71, 84, 65, 71], [65, 67, 84, 67], [84, 71, 65, 67]] -> score=[[91, 82, 35, 127], [120, 96, 38, 39]]
