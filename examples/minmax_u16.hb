; Minimum and maximum of the pixels of two images of 16-bit pixels. Each item computes two pixels in one word.
kernel darker_u16(a: in i16x2, b: in i16x2, least: out i16x2) {
  let i = item_id()
  least[i] = min_u(a[i], b[i])
}

kernel lighter_u16(a: in i16x2, b: in i16x2, most: out i16x2) {
  let i = item_id()
  most[i] = max_u(a[i], b[i])
}

; run: halu, vp1, ptx: @darker_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] least=zeros(3) -> least=[[0, 0], [999, 40000], [7, 255]]
; run: halu, vp1, ptx: @lighter_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] most=zeros(3) -> most=[[65535, 65535], [1000, 40000], [8, 256]]
; run: halu, vp1, ptx: @darker_u16 items=1001 a=random(1001, 357) b=random(1001, 358) least=zeros(1001)
; run: halu, vp1, ptx: @lighter_u16 items=1001 a=random(1001, 359) b=random(1001, 360) most=zeros(1001)

; A photograph of 64 by 64 pixels, and the same photograph moved by half a pixel.
; run: halu, vp1, ptx: @darker_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy least=zeros(2048)
; run: halu, vp1, ptx: @lighter_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy most=zeros(2048)
