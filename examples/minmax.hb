; Minimum and maximum of the pixels of two grey images, for masks
; and composition. Each item computes four pixels in one word.
kernel darker(a: in i8x4, b: in i8x4, least: out i8x4) {
  let i = item_id()
  least[i] = min_u(a[i], b[i])
}

kernel lighter(a: in i8x4, b: in i8x4, most: out i8x4) {
  let i = item_id()
  most[i] = max_u(a[i], b[i])
}

; run: halu, vp1, ptx: @darker items=2 a=[[0, 255, 10, 128], 7] b=[[255, 254, 13, 127], 8] least=zeros(2) -> least=[[0, 254, 10, 127], 7]
; run: halu, vp1, ptx: @lighter items=2 a=[[0, 255, 10, 128], 7] b=[[255, 254, 13, 127], 8] most=zeros(2) -> most=[[255, 255, 13, 128], 8]
; run: halu, vp1, ptx: @darker items=1001 a=random(1001, 31) b=random(1001, 32) least=zeros(1001)
; run: halu, vp1, ptx: @lighter items=1001 a=random(1001, 33) b=random(1001, 34) most=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @darker items=4096 a=@chelsea.npy b=@chelsea-moved.npy least=zeros(4096)
; run: halu, vp1, ptx: @lighter items=4096 a=@chelsea.npy b=@chelsea-moved.npy most=zeros(4096)
