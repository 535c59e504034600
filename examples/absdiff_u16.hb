; Absolute difference of two images of 16-bit pixels. Each
; item computes two pixels in one word, lane by lane.
kernel absdiff_u16(a: in i16x2, b: in i16x2, difference: out i16x2) {
  let i = item_id()
  difference[i] = absdiff_u(a[i], b[i])
}

; run: halu, vp1, ptx: @absdiff_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] difference=zeros(3) -> difference=[[65535, 65535], [1, 0], [1, 1]]
; run: halu, vp1, ptx: @absdiff_u16 items=1001 a=random(1001, 351) b=random(1001, 352) difference=zeros(1001)

; A photograph of 64 by 64 pixels, and the same photograph moved by half a pixel.
; run: halu, vp1, ptx: @absdiff_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy difference=zeros(2048)
