; Average of two grey images, rounded up. Video decoders predict a block at
; half-pixel positions in this way. Each item computes four pixels in one word.
kernel @average(%a: in i8x4, %b: in i8x4, %mean: out i8x4) {
^entry:
  %i = item_id
  %p = load %a[%i]
  %q = load %b[%i]
  %m = avg_u.i8x4 %p, %q
  store %m, %mean[%i]
  ret
}

; run: halu, vp1, ptx: @average items=2 a=[[0, 255, 10, 128], 7] b=[[255, 255, 13, 127], 8] mean=zeros(2) -> mean=[[128, 255, 12, 128], 8]
; run: halu, vp1, ptx: @average items=1001 a=random(1001, 21) b=random(1001, 22) mean=zeros(1001)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @average items=4096 a=@chelsea.npy b=@chelsea-moved.npy mean=zeros(4096)
