; Weighted prediction of H.264: of two pictures each pixel is weighted, the sum rounded, divided by 64 and moved by an offset;
; what leaves the range of a pixel is clipped. So a fade is predicted from the pictures before and after. An item takes 16 pixels.
kernel @weight(%w0: i8, %w1: i8, %offset: i8, %before: in i8x16, %after: in i8x16, %predicted: out i8x16) {
^entry:
  %i = item_id
  %v0 = splat.i8x16 %w0
  %v1 = splat.i8x16 %w1
  %vo = splat.i8x16 %offset
  %f0 = sext.i32x16 %v0
  %f1 = sext.i32x16 %v1
  %o = sext.i32x16 %vo
  %p0 = load %before[%i]
  %p1 = load %after[%i]
  %e0 = zext.i32x16 %p0
  %e1 = zext.i32x16 %p1
  %m0 = mul.i32x16 %e0, %f0
  %m1 = mul.i32x16 %e1, %f1
  %sum = add.i32x16 %m0, %m1
  %six = const.i32x16 6
  %mean = round_shr_s.i32x16 %sum, %six
  %moved = add.i32x16 %mean, %o
  %half = narrow_sat_s.i16x16 %moved
  %r = narrow_sat_u.i8x16 %half
  store %r, %predicted[%i]
  ret
}

; run: halu, vp1, ptx: @weight items=1 w0=20 w1=44 offset=0 before=[[0, 255, 255, 0, 100, 200, 1, 2, 3, 127, 128, 254, 90, 60, 30, 250]] after=[[0, 255, 0, 255, 101, 100, 3, 2, 1, 128, 127, 255, 91, 200, 40, 10]] predicted=zeros(1) -> predicted=[[0, 255, 80, 175, 101, 131, 2, 2, 2, 128, 127, 255, 91, 156, 37, 85]]
; run: halu, vp1, ptx: @weight items=1 w0=-30 w1=94 offset=-9 before=[[0, 255, 255, 0, 100, 200, 1, 2, 3, 127, 128, 254, 90, 60, 30, 250]] after=[[0, 255, 0, 255, 101, 100, 3, 2, 1, 128, 127, 255, 91, 200, 40, 10]] predicted=zeros(1) -> predicted=[[0, 246, 0, 255, 92, 44, 0, 0, 0, 119, 118, 246, 82, 255, 36, 0]]
; run: halu, vp1, ptx: @weight items=1001 w0=-128 w1=127 offset=-100 before=random(1001, 71) after=random(1001, 72) predicted=zeros(1001)
; run: halu, vp1, ptx: @weight items=301 w0=127 w1=127 offset=127 before=random(301, 73) after=random(301, 74) predicted=zeros(301)

; A photograph of 128 by 128 pixels, two thirds on the way to itself moved by one pixel.
; run: halu, vp1, ptx: @weight items=1024 w0=21 w1=43 offset=3 before=@chelsea.npy after=@chelsea-moved.npy predicted=zeros(1024)
