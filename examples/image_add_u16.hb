; Sum of two images of 16-bit pixels, saturating at white. Each item computes two pixels in one word.
kernel image_add_u16(a: in i16x2, b: in i16x2, sum: out i16x2) {
  let i = item_id()
  sum[i] = add_sat_u(a[i], b[i])
}

; run: halu, vp1, ptx: @image_add_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] sum=zeros(3) -> sum=[[65535, 65535], [1999, 65535], [15, 511]]
; run: halu, vp1, ptx: @image_add_u16 items=1001 a=random(1001, 353) b=random(1001, 354) sum=zeros(1001)

; A photograph of 64 by 64 pixels, and the same photograph moved by half a pixel.
; run: halu, vp1, ptx: @image_add_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy sum=zeros(2048)
