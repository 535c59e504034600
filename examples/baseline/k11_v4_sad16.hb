; Sum of absolute differences of 16 pixels, which video encoders use
; for motion search. Each item compares four words with four words.
kernel @k11_v4_sad16(%a: in i8x4 align 16, %b: in i8x4 align 16, %sum: out i32) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %a0 = load %a[%j]
  %a1 = load %a[%j + 1]
  %a2 = load %a[%j + 2]
  %a3 = load %a[%j + 3]
  %b0 = load %b[%j]
  %b1 = load %b[%j + 1]
  %b2 = load %b[%j + 2]
  %b3 = load %b[%j + 3]
  %none = const.i32 0
  %s0 = sad_u.i8x4 %a0, %b0, %none
  %s1 = sad_u.i8x4 %a1, %b1, %s0
  %s2 = sad_u.i8x4 %a2, %b2, %s1
  %s3 = sad_u.i8x4 %a3, %b3, %s2
  store %s3, %sum[%i]
  ret
}

; run: halu, vp1, ptx: @k11_v4_sad16 items=2 a=[[171, 206, 5, 206], [120, 131, 161, 73], [250, 13, 71, 98], [146, 104, 33, 11], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] b=[[29, 100, 160, 126], [170, 173, 169, 15], [245, 142, 231, 69], [92, 225, 47, 16], [255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255]] sum=zeros(2) -> sum=[1158, 4080]
; run: halu, vp1, ptx: @k11_v4_sad16 items=300 a=random(1200, 19) b=random(1200, 20) sum=zeros(300)

; A photograph of 128 by 128 pixels, and the same photograph moved by one pixel.
; run: halu, vp1, ptx: @k11_v4_sad16 items=1024 a=@chelsea.npy b=@chelsea-moved.npy sum=zeros(1024)
