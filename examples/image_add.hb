; Sum of two grey images, saturating at white. Each item computes four pixels in one word.
kernel image_add(a: in i8x4, b: in i8x4, sum: out i8x4) {
  let i = item_id()
  sum[i] = add_sat_u(a[i], b[i])
}

; run: halu, vp1, ptx: @image_add items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] sum=zeros(2) -> sum=[[255, 255, 23, 255], [15, 255, 255, 1]]
; run: halu, vp1, ptx: @image_add items=1001 a=random(1001, 321) b=random(1001, 322) sum=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @image_add items=4096 a=@chelsea.npy b=@chelsea-moved.npy sum=zeros(4096)
