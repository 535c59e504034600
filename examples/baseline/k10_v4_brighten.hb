; Brightens grey pixels by the same amount, saturating at white. Each item computes 16 pixels in four words.
kernel @k10_v4_brighten(%x: in i8x4 align 16, %y: out i8x4 align 16, %by: i8x4) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]
  %r0 = add_sat_u.i8x4 %v0, %by
  %r1 = add_sat_u.i8x4 %v1, %by
  %r2 = add_sat_u.i8x4 %v2, %by
  %r3 = add_sat_u.i8x4 %v3, %by
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  store %r2, %y[%j + 2]
  store %r3, %y[%j + 3]
  ret
}

; run: halu, vp1, ptx: @k10_v4_brighten items=1 x=[[0, 100, 215, 216], [255, 1, 2, 3], [40, 128, 200, 254], [7, 7, 7, 7]] y=zeros(4) by=40 -> y=[[40, 140, 255, 255], [255, 41, 42, 43], [80, 168, 240, 255], [47, 47, 47, 47]]
; run: halu, vp1, ptx: @k10_v4_brighten items=300 x=random(1200, 18) y=zeros(1200) by=0x01ff8000

; A photograph of 128 by 128 pixels.
; run: halu, vp1, ptx: @k10_v4_brighten items=1024 x=@chelsea.npy y=zeros(4096) by=60
