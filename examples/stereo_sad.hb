; Disparity of each pixel between a left and a right picture, which gives its distance from the camera.
; For every shift, the code computes the sum of absolute differences of the colours of the 3 by 3
; pixels around it. It returns the shift with the least sum, the first one if several sums are equal.
;
; A pixel is a word of four bytes. Item i is the pixel at word i + width + 1 of pictures with `width`
; words a row. Shift d compares it with word i + width + 1 + d of the right picture; d is less than
; `shifts`, which is at least 1. At the end of a row, the comparison continues in the next row.

; Adds the absolute differences of three pixels to a sum.
fn row(left: in i8x4, i: i32, right: in i8x4, j: i32, sum: i32) -> i32 {
  var s = sum
  unroll for k in 0..3 { s = sad_u(left[i + k], right[j + k], s) }
  s
}

kernel stereo_sad(width: i32, shifts: i32, left: in i8x4, right: in i8x4, shift: out i32, difference: out i32) {
  let i = item_id()
  let i1 = i + width
  let i2 = i1 + width
  var (d, least, best) = (0, -1, 0)
  do {
    let j = i + d
    let j1 = j + width
    let j2 = j1 + width
    let s = row(left, i, right, j, 0)
    let t = row(left, i1, right, j1, s)
    let sum = row(left, i2, right, j2, t)
    let better = sum <_u least
    least = select(better, sum, least)
    best = select(better, d, best)
    d += 1
  } while d <_s shifts
  shift[i] = best
  difference[i] = least
}

; run: halu, vp1, ptx: @stereo_sad items=3 width=5 shifts=3 left=[[170, 244, 212, 196], [181, 32, 65, 211], [85, 217, 45, 89], [249, 130, 214, 154], [16, 86, 128, 159], [252, 187, 85, 220], [107, 86, 9, 109], [56, 152, 171, 249], [128, 237, 239, 14], [199, 195, 185, 40], [98, 71, 236, 149], [172, 199, 171, 44], [28, 237, 142, 89], [32, 214, 40, 229], [222, 58, 109, 41]] right=[[9, 9, 9, 9], [170, 244, 212, 196], [181, 32, 65, 211], [85, 217, 45, 89], [249, 130, 214, 154], [9, 9, 9, 9], [252, 187, 85, 220], [107, 86, 9, 109], [56, 152, 171, 249], [128, 237, 239, 14], [9, 9, 9, 9], [98, 71, 236, 149], [172, 199, 171, 44], [28, 237, 142, 89], [32, 214, 40, 229], [0, 0, 0, 0], [0, 0, 0, 0]] shift=zeros(3) difference=zeros(3) -> shift=[1, 1, 1] difference=[0, 0, 1366]
; run: halu, vp1, ptx: @stereo_sad items=201 width=30 shifts=7 left=random(263, 261) right=random(269, 262) shift=zeros(201) difference=zeros(201)

; A photograph in colour, moved by two pixels in its left half and by five in its right half.
; run: halu, vp1, ptx: @stereo_sad items=630 width=64 shifts=8 left=@chelsea-left.npy right=@chelsea-right.npy shift=zeros(630) difference=zeros(630) -> shift=@chelsea-shifts.npy
