; Last step of a video decoder: adds the residual to the prediction, which gives the pixels. A residual is a signed
; number of 9 bits in the low bits of a half-word. Each item computes 16 pixels, with residuals in two vectors.
kernel residual(predicted: in i8x16, residuals: in i16, picture: out i8x16) {
  let i = item_id()
  let at = i * 2
  let p = predicted[i]
  let low = load.i8x16(residuals[at] step 16)
  let high = load.i8x16(residuals[at + 1] step 16)
  let nine = concat.i16x16(low, high) << 7 >>_s 7
  picture[i] = narrow_sat_u(zext.i16x16(p) + nine)
}

; run: halu, vp1, ptx: @residual items=1 predicted=[[0, 255, 0, 255, 10, 250, 128, 127, 1, 254, 100, 200, 50, 60, 70, 80]] residuals=[511, 1, 255, 257, -256, 255, 127, -128, -2, 2, -100, 55, 461, 7, 0, 432] picture=zeros(1) -> picture=[[0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 67, 70, 0]]
; run: halu, vp1, ptx: @residual items=1001 predicted=random(1001, 101) residuals=random(16016, 102) picture=zeros(1001)

; A photograph of 128 by 128 pixels: its version coded in blocks of 8 by 8, plus the coding error, is the photograph.
; run: halu, vp1, ptx: @residual items=1024 predicted=@chelsea-coded.npy residuals=@chelsea-residuals.npy picture=zeros(1024) -> picture=@chelsea.npy
