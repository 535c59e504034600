; Difference of two tiles, used to align the frames of a burst before they are merged into one picture with
; more contrast. The code averages the absolute differences of four rows, rounding up each pair, and sums
; them over four columns. The result is nearly a quarter of the sum, and all intermediate values are bytes.
;
; Item i compares word i of four rows that are `width` words apart.
kernel tile_difference(width: i32, a: in i8x4, b: in i8x4, difference: out i32) {
  let i = item_id()
  var d: i8x4[4]
  var at = i
  unroll for k in 0..4 {
    d[k] = absdiff_u(a[at], b[at])
    at += width
  }
  difference[i] = reduce_add_u(avg_u(avg_u(d[0], d[1]), avg_u(d[2], d[3])))
}

; run: halu, vp1, ptx: @tile_difference items=3 width=3 a=[[110, 43, 46, 193], [33, 247, 19, 164], [0, 0, 0, 0], [98, 17, 180, 211], [78, 127, 202, 92], [0, 0, 0, 0], [116, 58, 225, 201], [167, 107, 69, 211], [0, 0, 0, 0], [220, 47, 174, 217], [93, 117, 14, 193], [0, 0, 0, 0]] b=[[129, 166, 85, 164], [61, 23, 132, 202], [255, 255, 255, 255], [252, 116, 5, 149], [164, 72, 78, 105], [255, 255, 255, 255], [145, 90, 180, 244], [107, 252, 201, 40], [255, 255, 255, 255], [132, 116, 98, 55], [166, 44, 190, 144], [255, 255, 255, 255]] difference=zeros(3) -> difference=[313, 392, 1020]
; run: halu, vp1, ptx: @tile_difference items=301 width=301 a=random(1204, 281) b=random(1204, 282) difference=zeros(301)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @tile_difference items=4000 width=32 a=@chelsea.npy b=@chelsea-moved.npy difference=zeros(4000) -> difference=@chelsea-tiles.npy
