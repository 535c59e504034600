; Motion compensation of chroma in H.264: interpolates between four pixels at offsets of eighths of a pixel. Nearer pixels
; have larger weights, and the sum of the weights is 64. Each item computes 16 pixels of a row, from any byte of the picture.

fn weight(w: i32) -> i8x16 { i8x16(trunc.i8(w)) }

kernel chroma(right: i32, down: i32, stride: i32, picture: in i8, block: out i8x16) {
  let i = item_id()
  let (x, y) = (right & 7, down & 7)
  let (left, up) = (8 - x, 8 - y)
  let at = i * 16
  let below = at + stride
  let (wa, wb, wc, wd) = (weight(left * up), weight(x * up), weight(left * y), weight(x * y))
  let (a, b) = (load.i8x16(picture[at] align 1), load.i8x16(picture[at + 1] align 1))
  let (c, d) = (load.i8x16(picture[below] align 1), load.i8x16(picture[below + 1] align 1))
  let (pa, pb, pc, pd) = (mul_wide_u(a, wa), mul_wide_u(b, wb), mul_wide_u(c, wc), mul_wide_u(d, wd))
  block[i] = narrow_sat_uu(round_shr_u(pa + pb + pc + pd, 6))
}

; run: halu, vp1, ptx: @chroma items=2 right=3 down=5 stride=32 picture=[0, 255, 255, 0, 255, 255, 74, 178, 40, 172, 62, 222, 140, 72, 18, 234, 208, 196, 198, 214, 244, 32, 90, 162, 248, 92, 206, 78, 220, 120, 34, 218, 255, 0, 255, 255, 255, 255, 57, 245, 167, 79, 237, 129, 11, 139, 1, 109, 207, 39, 117, 185, 243, 35, 73, 101, 119, 127, 125, 113, 91, 59, 17, 221, 159] block=zeros(2) -> block=[[135, 155, 219, 195, 255, 183, 122, 182, 117, 135, 169, 125, 80, 74, 63, 175], [166, 116, 166, 214, 165, 51, 96, 140, 147, 129, 135, 115, 118, 60, 97, 211]]
; run: halu, vp1, ptx: @chroma items=0 right=0 down=0 stride=0 picture=zeros(1) block=zeros(1)
; run: halu, vp1, ptx: @chroma items=1001 right=7 down=1 stride=208 picture=random(16240, 61) block=zeros(1001)

; A photograph of 128 by 128 pixels, with an offset of a half and a quarter of a pixel.
; run: halu, vp1, ptx: @chroma items=1015 right=4 down=2 stride=128 picture=@chelsea.npy block=zeros(1015)
