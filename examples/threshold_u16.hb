; Threshold of an image of 16-bit pixels: pixels above a level get one
; value, all others another. Each item computes two pixels in one word.
kernel threshold_u16(level: i16x2, above: i16x2, below: i16x2, pixels: in i16x2, two: out i16x2) {
  let i = item_id()
  two[i] = select(pixels[i] >_u level, above, below)
}

; run: halu, vp1, ptx: @threshold_u16 items=3 level=1000 above=65535 below=7 pixels=[[0, 1000], [1001, 65535], [32768, 999]] two=zeros(3) -> two=[[7, 7], [65535, 65535], [65535, 7]]
; run: halu, vp1, ptx: @threshold_u16 items=1001 level=[0x7fff, 300] above=9 below=0x80000001 pixels=random(1001, 371) two=zeros(1001)

; A photograph of 64 by 64 pixels.
; run: halu, vp1, ptx: @threshold_u16 items=2048 level=28000 above=65535 below=0 pixels=@chelsea-u16.npy two=zeros(2048)
