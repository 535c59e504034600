; Darkens pixels by %by, but none below 16. A work item has four bytes.
kernel @fade(%by: i8x4, %pixels: in i8x4, %darker: out i8x4) {
^entry:
  %i = item_id
  %p = load %pixels[%i]
  %d = sub_sat_u.i8x4 %p, %by
  %floor = const.i8x4 16
  %r = max_u.i8x4 %d, %floor
  store %r, %darker[%i]
  ret
}
; run: halu, vp1, ptx: @fade items=2 by=40 pixels=[[0, 50, 60, 255], 100] -> darker=[[16, 16, 20, 215], 60]
; run: halu, vp1, ptx: @fade items=1000 by=40 pixels=random(1000, 1)
