; Median of every pixel and its eight neighbours, for 16-bit pixels. Each item
; computes two pixels in one word, with neighbours from the adjacent words. A network
; of compare-exchange steps sorts the nine pixels as far as the median requires.
;
; Item i reads words i to i + 2 of three rows of `width` words each, and writes the word in the middle.
; At the ends of a row, some neighbours are pixels of another row, because the image has no border.

fn sorted(a: i16x2, b: i16x2) -> (i16x2, i16x2) { (min_u(a, b), max_u(a, b)) }

fn in_order(a: i16x2, b: i16x2, c: i16x2) -> (i16x2, i16x2, i16x2) {
  let (low, high) = sorted(b, c)
  let (first, rest) = sorted(a, low)
  let (second, third) = sorted(rest, high)
  (first, second, third)
}

kernel median_u16(width: i32, pixels: in i16x2, clean: out i16x2) {
  let i = item_id()
  let row1 = i + width
  let row2 = row1 + width
  let (l0, c0, r0) = (pixels[i], pixels[i + 1], pixels[i + 2])
  let (l1, c1, r1) = (pixels[row1], pixels[row1 + 1], pixels[row1 + 2])
  let (l2, c2, r2) = (pixels[row2], pixels[row2 + 1], pixels[row2 + 2])
  let (a0, a1, a2) = in_order(shuffle(l0, c0, [1, 2]), c0, shuffle(c0, r0, [1, 2]))
  let (b0, b1, b2) = in_order(shuffle(l1, c1, [1, 2]), c1, shuffle(c1, r1, [1, 2]))
  let (d0, d1, d2) = in_order(shuffle(l2, c2, [1, 2]), c2, shuffle(c2, r2, [1, 2]))
  ; The median of three values: the maximum of the minima, the median of the medians, and the minimum of the maxima.
  let least = max_u(max_u(a0, b0), d0)
  let most = min_u(a2, min_u(b2, d2))
  let (low, high) = sorted(b1, d1)
  let middle = min_u(max_u(a1, low), high)
  let (below, above) = sorted(middle, most)
  clean[row1 + 1] = min_u(max_u(least, below), above)
}

; run: halu, vp1, ptx: @median_u16 items=1 width=3 pixels=[[25202, 61763], [61255, 20128], [22485, 16705], [20759, 14589], [53936, 51524], [57853, 14202], [25499, 52804], [25270, 48015], [2382, 27641]] clean=zeros(9) -> clean=[[0, 0], [0, 0], [0, 0], [0, 0], [51524, 48015], [0, 0], [0, 0], [0, 0], [0, 0]]
; run: halu, vp1, ptx: @median_u16 items=1000 width=40 pixels=random(1082, 372) clean=zeros(1082)

; A photograph of 64 by 64 pixels.
; run: halu, vp1, ptx: @median_u16 items=1982 width=32 pixels=@chelsea-u16.npy clean=zeros(2048)
