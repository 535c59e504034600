; Weighted prediction of H.264: the weighted sum of two pictures, rounded, divided by 64, plus an offset, and clamped
; to the range of a pixel. It predicts a fade from the pictures before and after. Each item computes 16 pixels.
kernel weight(w0: i8, w1: i8, offset: i8, before: in i8x16, after: in i8x16, predicted: out i8x16) {
  let i = item_id()
  let (f, g, o) = (sext.i32x16(i8x16(w0)), sext.i32x16(i8x16(w1)), sext.i32x16(i8x16(offset)))
  let sum = zext.i32x16(before[i]) * f + zext.i32x16(after[i]) * g
  predicted[i] = narrow_sat_u(narrow_sat_s.i16x16(round_shr_s(sum, 6) + o))
}

; run: halu, vp1, ptx: @weight items=1 w0=20 w1=44 offset=0 before=[[0, 255, 255, 0, 100, 200, 1, 2, 3, 127, 128, 254, 90, 60, 30, 250]] after=[[0, 255, 0, 255, 101, 100, 3, 2, 1, 128, 127, 255, 91, 200, 40, 10]] predicted=zeros(1) -> predicted=[[0, 255, 80, 175, 101, 131, 2, 2, 2, 128, 127, 255, 91, 156, 37, 85]]
; run: halu, vp1, ptx: @weight items=1 w0=-30 w1=94 offset=-9 before=[[0, 255, 255, 0, 100, 200, 1, 2, 3, 127, 128, 254, 90, 60, 30, 250]] after=[[0, 255, 0, 255, 101, 100, 3, 2, 1, 128, 127, 255, 91, 200, 40, 10]] predicted=zeros(1) -> predicted=[[0, 246, 0, 255, 92, 44, 0, 0, 0, 119, 118, 246, 82, 255, 36, 0]]
; run: halu, vp1, ptx: @weight items=1001 w0=-128 w1=127 offset=-100 before=random(1001, 71) after=random(1001, 72) predicted=zeros(1001)
; run: halu, vp1, ptx: @weight items=301 w0=127 w1=127 offset=127 before=random(301, 73) after=random(301, 74) predicted=zeros(301)

; A photograph of 128 by 128 pixels, two thirds of the way to the same photograph moved by one pixel.
; run: halu, vp1, ptx: @weight items=1024 w0=21 w1=43 offset=3 before=@chelsea.npy after=@chelsea-moved.npy predicted=zeros(1024)
