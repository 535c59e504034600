; yadif, a deinterlacer: it computes the missing lines of a field of interlaced video.
; A pixel comes from the lines above and below, along the best of five directions. Its
; distance from the fields before and after is limited by the motion at its position.
;
; Each item computes four pixels in one word. Values that fit a byte stay in bytes. The sums that compare directions need ten
; bits, and differences of pixels need a sign: these are two words of half-words, for pixels 0 and 1, and for pixels 2 and 3.
;
; Lines are `width` words apart. Item i reads words i to i + 2 of two lines of the field `now`, above and below the
; pixels. `before` and `after` are the same field in the previous and the next picture. `earlier` and `later` are
; the fields between; item i reads word i + 1 of three of their lines, and the middle line is that of the pixels.

include "std/pixel"

; Average, rounded down.
fn mean(a: i8x4, b: i8x4) -> i8x4 { avg_u(a, b) - ((a ^ b) & 1) }

; The pixels three to one to the left of `c`, and one to three to its right.
fn beside(l: i8x4, c: i8x4, r: i8x4) -> (i8x4, i8x4, i8x4, i8x4, i8x4, i8x4) {
  let (p, q, s) = (shuffle(l, c, [1, 2, 3, 4]), shuffle(l, c, [2, 3, 4, 5]), shuffle(l, c, [3, 4, 5, 6]))
  (p, q, s, shuffle(c, r, [1, 2, 3, 4]), shuffle(c, r, [2, 3, 4, 5]), shuffle(c, r, [3, 4, 5, 6]))
}

; The sum of the differences of three pairs of pixels.
fn differ(a: i8x4, b: i8x4, c: i8x4, d: i8x4, e: i8x4, f: i8x4) -> (i16x2, i16x2) {
  let (p, q, r) = (absdiff_u(a, b), absdiff_u(c, d), absdiff_u(e, f))
  (low(p) + low(q) + low(r), high(p) + high(q) + high(r))
}

; Combines the masks of two pairs into one mask of four bytes.
fn bytes_of(a: i1x2, b: i1x2) -> i1x4 { bytes(mask_expand(a), mask_expand(b)) <_s 0 }

; The largest allowed distance of a pixel from `d`.
fn most(d: i16x2, a: i16x2, b: i16x2, above: i16x2, below: i16x2, move: i16x2) -> i16x2 {
  let (over_a, over_b, rise_a, rise_b) = (d - a, d - b, above - a, below - b)
  let (lesser, greater) = (min_s(rise_a, rise_b), max_s(rise_a, rise_b))
  let under = -max_s(max_s(over_a, over_b), lesser)
  let least = min_s(min_s(over_a, over_b), greater)
  max_s(max_s(move, least), under)
}

kernel yadif(width: i32, now: in i8x4, before: in i8x4, after: in i8x4, earlier: in i8x4, later: in i8x4, line: out i8x4) {
  let i = item_id()
  let i1 = i + width
  let i2 = i1 + width
  let (al, ac, ar) = (now[i], now[i + 1], now[i + 2])
  let (before_a, after_a) = (before[i + 1], after[i + 1])
  let (bl, bc, br) = (now[i1], now[i1 + 1], now[i1 + 2])
  let (before_b, after_b) = (before[i1 + 1], after[i1 + 1])
  let (earlier0, later0) = (earlier[i + 1], later[i + 1])
  let (earlier1, later1) = (earlier[i1 + 1], later[i1 + 1])
  let (earlier2, later2) = (earlier[i2 + 1], later[i2 + 1])
  ; The adjacent pixels, up to three to the left and to the right.
  let (am3, am2, am1, ap1, ap2, ap3) = beside(al, ac, ar)
  let (bm3, bm2, bm1, bp1, bp2, bp3) = beside(bl, bc, br)
  ; The differences of the surrounding fields, and their values at the position of the pixels.
  let d = mean(earlier1, later1)
  let half_moved = absdiff_u(earlier1, later1) >>_u 1
  let before_by = mean(absdiff_u(before_a, ac), absdiff_u(before_b, bc))
  let after_by = mean(absdiff_u(after_a, ac), absdiff_u(after_b, bc))
  let move = max_u(max_u(half_moved, before_by), after_by)
  ; The difference of the lines above and below in each direction, around the pixel.
  let (straight_low, straight_high) = differ(am1, bm1, ac, bc, ap1, bp1)
  let straight = mean(ac, bc)
  let (left_low, left_high) = differ(am2, bc, am1, bp1, ac, bp2)
  let left = mean(am1, bp1)
  let (far_left_low, far_left_high) = differ(am3, bp1, am2, bp2, am1, bp3)
  let far_left = mean(am2, bp2)
  let (right_low, right_high) = differ(ac, bm2, ap1, bm1, ap2, bc)
  let right = mean(ap1, bm1)
  let (far_right_low, far_right_high) = differ(ap1, bm3, ap2, bm2, ap3, bm1)
  let far_right = mean(ap2, bm2)
  ; The best direction. Another direction must be better than straight down by one; a far one is considered only if the near one is better.
  var (best_low, best_high, pixel) = (straight_low - 1, straight_high - 1, straight)
  let (is_left_low, is_left_high) = (left_low <_s best_low, left_high <_s best_high)
  best_low = select(is_left_low, left_low, best_low)
  best_high = select(is_left_high, left_high, best_high)
  pixel = select(bytes_of(is_left_low, is_left_high), left, pixel)
  let (is_far_left_low, is_far_left_high) = ((far_left_low <_s best_low) & is_left_low, (far_left_high <_s best_high) & is_left_high)
  best_low = select(is_far_left_low, far_left_low, best_low)
  best_high = select(is_far_left_high, far_left_high, best_high)
  pixel = select(bytes_of(is_far_left_low, is_far_left_high), far_left, pixel)
  let (is_right_low, is_right_high) = (right_low <_s best_low, right_high <_s best_high)
  best_low = select(is_right_low, right_low, best_low)
  best_high = select(is_right_high, right_high, best_high)
  pixel = select(bytes_of(is_right_low, is_right_high), right, pixel)
  let (is_far_right_low, is_far_right_high) = ((far_right_low <_s best_low) & is_right_low, (far_right_high <_s best_high) & is_right_high)
  pixel = select(bytes_of(is_far_right_low, is_far_right_high), far_right, pixel)
  ; If the lines two above and two below show that the picture changes from line to line, the allowed distance is larger.
  let (far_above, far_below) = (mean(earlier0, later0), mean(earlier2, later2))
  let by_low = most(low(d), low(ac), low(bc), low(far_above), low(far_below), low(move))
  let by_high = most(high(d), high(ac), high(bc), high(far_above), high(far_below), high(move))
  let by = bytes(by_low, by_high)
  line[i + 1] = max_u(min_u(pixel, add_sat_u(d, by)), sub_sat_u(d, by))
}

; run: halu, vp1, ptx: @yadif items=1 width=3 now=[[10, 20, 30, 40], [200, 210, 220, 230], [235, 240, 245, 250], [5, 8, 10, 12], [20, 30, 40, 200], [210, 220, 230, 235]] before=[[1, 18, 23, 49], [204, 207, 222, 234], [233, 245, 249, 244], [2, 7, 15, 6], [18, 28, 31, 199], [201, 214, 237, 242]] after=[[33, 45, 49, 12], [220, 239, 220, 202], [255, 255, 221, 233], [19, 24, 36, 0], [28, 56, 20, 187], [198, 206, 245, 225]] earlier=[[213, 247, 126, 42], [131, 31, 251, 79], [174, 31, 63, 195], [3, 32, 50, 0], [78, 160, 160, 247], [190, 249, 243, 231], [145, 195, 201, 75], [97, 36, 149, 4], [92, 22, 20, 189]] later=[[207, 248, 121, 38], [135, 38, 255, 76], [169, 33, 63, 192], [3, 28, 53, 0], [73, 155, 163, 245], [185, 252, 251, 223], [144, 201, 195, 74], [101, 44, 153, 4], [98, 19, 24, 193]] line=zeros(3) -> line=[[0, 0, 0, 0], [61, 130, 171, 226], [0, 0, 0, 0]]
; run: halu, vp1, ptx: @yadif items=300 width=302 now=random(604, 491) before=random(604, 492) after=random(604, 493) earlier=random(906, 494) later=random(906, 495) line=zeros(302)

; A photograph of 128 by 128 pixels: its odd lines, with its even lines before
; them, and the even lines of the photograph moved by one pixel after them.
; run: halu, vp1, ptx: @yadif items=1982 width=32 now=@chelsea-odd.npy before=@chelsea-odd.npy after=@chelsea-moved-odd.npy earlier=@chelsea-even.npy later=@chelsea-moved-even.npy line=zeros(1984) -> line=@chelsea-woven.npy
