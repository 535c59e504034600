; Comparisons of two images of 16-bit pixels: white if the condition
; is true, else black. Each item compares two pixels in one word.
kernel equal_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] == b[i])
}

kernel different_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] != b[i])
}

kernel greater_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] >_u b[i])
}

kernel at_least_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] >=_u b[i])
}

kernel less_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] <_u b[i])
}

kernel at_most_u16(a: in i16x2, b: in i16x2, mask: out i16x2) {
  let i = item_id()
  mask[i] = mask_expand(a[i] <=_u b[i])
}

; run: halu, vp1, ptx: @equal_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[0, 0], [0, 65535], [0, 0]]
; run: halu, vp1, ptx: @different_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[65535, 65535], [65535, 0], [65535, 65535]]
; run: halu, vp1, ptx: @greater_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[0, 65535], [65535, 0], [0, 65535]]
; run: halu, vp1, ptx: @at_least_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[0, 65535], [65535, 65535], [0, 65535]]
; run: halu, vp1, ptx: @less_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[65535, 0], [0, 0], [65535, 0]]
; run: halu, vp1, ptx: @at_most_u16 items=3 a=[[0, 65535], [1000, 40000], [7, 256]] b=[[65535, 0], [999, 40000], [8, 255]] mask=zeros(3) -> mask=[[65535, 0], [0, 65535], [65535, 0]]
; run: halu, vp1, ptx: @equal_u16 items=1001 a=random(1001, 361) b=random(1001, 362) mask=zeros(1001)
; run: halu, vp1, ptx: @different_u16 items=1001 a=random(1001, 363) b=random(1001, 364) mask=zeros(1001)
; run: halu, vp1, ptx: @greater_u16 items=1001 a=random(1001, 365) b=random(1001, 366) mask=zeros(1001)
; run: halu, vp1, ptx: @at_least_u16 items=1001 a=random(1001, 367) b=random(1001, 368) mask=zeros(1001)
; run: halu, vp1, ptx: @less_u16 items=1001 a=random(1001, 369) b=random(1001, 370) mask=zeros(1001)
; run: halu, vp1, ptx: @at_most_u16 items=1001 a=random(1001, 371) b=random(1001, 372) mask=zeros(1001)

; A photograph of 64 by 64 pixels, and the same photograph moved by half a pixel.
; run: halu, vp1, ptx: @equal_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
; run: halu, vp1, ptx: @different_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
; run: halu, vp1, ptx: @greater_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
; run: halu, vp1, ptx: @at_least_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
; run: halu, vp1, ptx: @less_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
; run: halu, vp1, ptx: @at_most_u16 items=2048 a=@chelsea-u16.npy b=@chelsea-moved-u16.npy mask=zeros(2048)
