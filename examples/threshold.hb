; Threshold of a grey image: pixels above a level get one value, all others another. Each item computes one pixel.
kernel @threshold(%level: i8, %above: i8, %below: i8, %pixels: in i8, %two: out i8) {
^entry:
  %i = item_id
  %p = load %pixels[%i]
  %m = icmp.gt_u.i8 %p, %level
  %r = select.i8 %m, %above, %below
  store %r, %two[%i]
  ret
}

; run: halu, vp1, ptx: @threshold items=5 level=127 above=255 below=0 pixels=[0, 127, 128, 200, 255] two=zeros(5) -> two=[0, 0, 255, 255, 255]
; run: halu, vp1, ptx: @threshold items=1003 level=100 above=9 below=0x80 pixels=random(1003, 51) two=zeros(1003)

; A photograph of 128 by 128 pixels.
; run: halu, vp1, ptx: @threshold items=16384 level=110 above=255 below=0 pixels=@chelsea.npy two=zeros(16384)
