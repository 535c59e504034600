; Absolute difference of two grey images, pixel by pixel. It distinguishes
; motion from stillness. Each item computes four pixels in one word.
kernel absdiff(a: in i8x4, b: in i8x4, difference: out i8x4) {
  let i = item_id()
  difference[i] = absdiff_u(a[i], b[i])
}

; run: halu, vp1, ptx: @absdiff items=2 a=[[0, 255, 10, 128], 7] b=[[255, 0, 13, 127], 7] difference=zeros(2) -> difference=[[255, 255, 3, 1], 0]
; run: halu, vp1, ptx: @absdiff items=1001 a=random(1001, 11) b=random(1001, 12) difference=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @absdiff items=4096 a=@chelsea.npy b=@chelsea-moved.npy difference=zeros(4096)
