; Motion search, the most expensive step of a video encoder. It compares a block of 8 by 8
; pixels with every position of a window in the previous picture, and keeps the position
; with the least sum of absolute differences. One word contains the sum in its high bits,
; and the position. A minimum therefore keeps both, and the first position for equal sums.
;
; The code computes four adjacent positions together. It loads three words of each row of the
; previous picture and extracts the eight pixels of each position from adjacent words. Item i is
; block i of a row of blocks: its first pixels are word 2 * i of pictures with `width` words a row.
; The window extends 4 * `across` pixels to the right and `down` pixels down. Both are 1 to 256.
kernel motion_search(width: i32, across: i32, down: i32, picture: in i8x4, before: in i8x4, found: out i32) {
  let i = item_id()
  let block = i * 2
  var (y, there, best) = (0, block, -1)
  do {
    var x = 0
    do {
      let from = there + x
      var (row, at, of, s0, s1, s2, s3) = (0, block, from, 0, 0, 0, 0)
      do {
        let (a, b) = (picture[at], picture[at + 1])
        let (c, d, e) = (before[of], before[of + 1], before[of + 2])
        s0 = sad_u(b, d, sad_u(a, c, s0))
        s1 = sad_u(b, shuffle(d, e, [1, 2, 3, 4]), sad_u(a, shuffle(c, d, [1, 2, 3, 4]), s1))
        s2 = sad_u(b, shuffle(d, e, [2, 3, 4, 5]), sad_u(a, shuffle(c, d, [2, 3, 4, 5]), s2))
        s3 = sad_u(b, shuffle(d, e, [3, 4, 5, 6]), sad_u(a, shuffle(c, d, [3, 4, 5, 6]), s3))
        at += width
        of += width
        row += 1
      } while row <_s 8
      let place = y << 8 | x << 2
      let left = min_u(s0 << 16 | place, s1 << 16 | (place | 1))
      let right = min_u(s2 << 16 | (place | 2), s3 << 16 | (place | 3))
      best = min_u(best, min_u(left, right))
      x += 1
    } while x <_s across
    there += width
    y += 1
  } while y <_s down
  found[i] = best
}

; run: halu, vp1, ptx: @motion_search items=1 width=3 across=1 down=2 picture=[[215, 181, 181, 225], [81, 82, 248, 83], [0, 0, 0, 0], [242, 195, 181, 220], [39, 142, 97, 227], [0, 0, 0, 0], [45, 94, 39, 106], [9, 213, 180, 186], [0, 0, 0, 0], [32, 236, 129, 31], [160, 184, 1, 74], [0, 0, 0, 0], [37, 206, 47, 11], [21, 227, 2, 8], [0, 0, 0, 0], [217, 24, 226, 249], [201, 165, 169, 243], [0, 0, 0, 0], [151, 34, 236, 103], [191, 148, 156, 17], [0, 0, 0, 0], [177, 151, 31, 119], [166, 221, 128, 131], [0, 0, 0, 0]] before=[[147, 224, 139, 37], [164, 202, 200, 254], [230, 20, 75, 145], [40, 90, 215, 181], [181, 225, 81, 82], [248, 83, 181, 64], [93, 217, 242, 195], [181, 220, 39, 142], [97, 227, 49, 33], [252, 225, 45, 94], [39, 106, 9, 213], [180, 186, 232, 13], [67, 64, 32, 236], [129, 26, 160, 184], [1, 74, 46, 100], [70, 213, 37, 206], [47, 11, 21, 227], [2, 8, 196, 159], [26, 141, 217, 24], [226, 249, 201, 165], [169, 243, 209, 178], [203, 168, 151, 34], [236, 103, 191, 148], [156, 17, 33, 32], [138, 167, 177, 151], [31, 119, 166, 221], [128, 131, 254, 182]] found=zeros(1) -> found=[327938]
; run: halu, vp1, ptx: @motion_search items=21 width=45 across=2 down=3 picture=random(360, 271) before=random(460, 272) found=zeros(21)

; A photograph of 128 by 128 pixels, moved by one pixel. The search
; finds every block one pixel to the right, with difference 0.
; run: halu, vp1, ptx: @motion_search items=15 width=32 across=1 down=3 picture=@chelsea-moved.npy before=@chelsea.npy found=zeros(15) -> found=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
