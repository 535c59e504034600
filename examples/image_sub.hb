; Difference of two grey images, saturating at black. It removes a
; static background. Each item computes four pixels in one word.
kernel image_sub(a: in i8x4, b: in i8x4, difference: out i8x4) {
  let i = item_id()
  difference[i] = sub_sat_u(a[i], b[i])
}

; run: halu, vp1, ptx: @image_sub items=2 a=[[0, 255, 10, 128], [7, 200, 100, 1]] b=[[255, 0, 13, 127], [8, 100, 155, 0]] difference=zeros(2) -> difference=[[0, 255, 0, 1], [0, 100, 0, 1]]
; run: halu, vp1, ptx: @image_sub items=1001 a=random(1001, 323) b=random(1001, 324) difference=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @image_sub items=4096 a=@chelsea.npy b=@chelsea-moved.npy difference=zeros(4096)
