; Sum of absolute differences of 16 pixels, which video encoders use for
; motion search. Each item compares 16 consecutive bytes of two images.
kernel @sad16(%a: in i8x16, %b: in i8x16, %sum: out i32) {
^entry:
  %i  = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %0  = const.i32 0
  %s  = sad_u.i8x16 %va, %vb, %0
  store %s, %sum[%i]
  ret
}

; run: halu, vp1, ptx: @sad16 items=2 a=[[0, 255, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 255] b=[[255, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], 0] -> sum=[514, 4080]
; run: halu, vp1, ptx: @sad16 items=500 a=random(500, 7) b=random(500, 8) sum=zeros(500)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @sad16 items=1024 a=@chelsea.npy b=@chelsea-moved.npy sum=zeros(1024)
