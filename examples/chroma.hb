; Motion-compensated chroma of H.264: a pixel between four others, of eighths of a pixel to the right and down. Each of the
; four counts by how near it is, and the weights are 64 in sum. An item takes 16 pixels of a row from any byte of the picture.
kernel @chroma(%right: i32, %down: i32, %stride: i32, %picture: in i8, %block: out i8x16) {
^entry:
  %i = item_id
  %seven = const.i32 7
  %eight = const.i32 8
  %sixteen = const.i32 16
  %x = and.i32 %right, %seven
  %y = and.i32 %down, %seven
  %left = sub.i32 %eight, %x
  %up = sub.i32 %eight, %y
  %wa = mul.i32 %left, %up
  %wb = mul.i32 %x, %up
  %wc = mul.i32 %left, %y
  %wd = mul.i32 %x, %y
  %ba = trunc.i8 %wa
  %bb = trunc.i8 %wb
  %bc = trunc.i8 %wc
  %bd = trunc.i8 %wd
  %va = splat.i8x16 %ba
  %vb = splat.i8x16 %bb
  %vc = splat.i8x16 %bc
  %vd = splat.i8x16 %bd

  %at = mul.i32 %i, %sixteen
  %below = add.i32 %at, %stride
  %a = load.i8x16 %picture[%at] align 1
  %b = load.i8x16 %picture[%at + 1] align 1
  %c = load.i8x16 %picture[%below] align 1
  %d = load.i8x16 %picture[%below + 1] align 1
  %pa = mul_wide_u.i8x16 %a, %va
  %pb = mul_wide_u.i8x16 %b, %vb
  %pc = mul_wide_u.i8x16 %c, %vc
  %pd = mul_wide_u.i8x16 %d, %vd
  %ab = add.i16x16 %pa, %pb
  %abc = add.i16x16 %ab, %pc
  %sum = add.i16x16 %abc, %pd
  %six = const.i16x16 6
  %mean = round_shr_u.i16x16 %sum, %six
  %r = narrow_sat_uu.i8x16 %mean
  store %r, %block[%i]
  ret
}

; run: halu, vp1, ptx: @chroma items=2 right=3 down=5 stride=32 picture=[0, 255, 255, 0, 255, 255, 74, 178, 40, 172, 62, 222, 140, 72, 18, 234, 208, 196, 198, 214, 244, 32, 90, 162, 248, 92, 206, 78, 220, 120, 34, 218, 255, 0, 255, 255, 255, 255, 57, 245, 167, 79, 237, 129, 11, 139, 1, 109, 207, 39, 117, 185, 243, 35, 73, 101, 119, 127, 125, 113, 91, 59, 17, 221, 159] block=zeros(2) -> block=[[135, 155, 219, 195, 255, 183, 122, 182, 117, 135, 169, 125, 80, 74, 63, 175], [166, 116, 166, 214, 165, 51, 96, 140, 147, 129, 135, 115, 118, 60, 97, 211]]
; run: halu, vp1, ptx: @chroma items=0 right=0 down=0 stride=0 picture=zeros(1) block=zeros(1)
; run: halu, vp1, ptx: @chroma items=1001 right=7 down=1 stride=208 picture=random(16240, 61) block=zeros(1001)

; A photograph of 128 by 128 pixels, half a pixel and a quarter away.
; run: halu, vp1, ptx: @chroma items=1015 right=4 down=2 stride=128 picture=@chelsea.npy block=zeros(1015)
