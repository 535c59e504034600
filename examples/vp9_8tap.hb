; Regular eight-tap filter of VP9 along columns, at a half-pixel position. Each item
; computes four pixels of a row in one word, as half-words. Rows are `w` words apart.

include "std/pixel"

kernel vp9_8tap(w: i32, src: in i8x4, dst: out i8x4) {
  let i = item_id()
  var at = i
  var (a, b) = (0i16x2, 0i16x2)
  unroll for k in 0..8 {
    const tap = if k == 0 || k == 7 { -1 } else if k == 1 || k == 6 { 6 } else if k == 2 || k == 5 { -19 } else { 78 }
    let v = src[at wide]
    a += low(v) * tap
    b += high(v) * tap
    at += w
  }
  dst[i wide] = bytes_clamped(round_shr_s(a, 7), round_shr_s(b, 7))
}
; run: halu, ptx: @vp9_8tap items=1 w=1 src=[[255, 0, 100, 0], [255, 0, 100, 0], [255, 0, 100, 255], [255, 0, 100, 0], [255, 0, 100, 0], [255, 0, 100, 255], [255, 0, 100, 0], [255, 0, 100, 0]] dst=zeros(1) -> dst=[[255, 0, 100, 0]]
; run: halu, ptx: @vp9_8tap items=96 w=32 src=random(320, 103) dst=zeros(96)
