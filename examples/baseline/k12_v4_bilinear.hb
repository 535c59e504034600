; Rounded average of two rounded averages, which predicts a pixel between
; four others. Each item computes four consecutive words of four pixels.
kernel @k12_v4_bilinear(%x: in i8x4 align 16, %y: out i8x4) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]
  %a = avg_u.i8x4 %v0, %v1
  %b = avg_u.i8x4 %v2, %v3
  %r = avg_u.i8x4 %a, %b
  store %r, %y[%i]
  ret
}

; run: halu, vp1, ptx: @k12_v4_bilinear items=2 x=[[9, 128, 85, 111], [238, 52, 135, 83], [75, 206, 39, 81], [30, 38, 71, 178], [148, 114, 43, 204], [204, 60, 15, 81], [37, 204, 133, 129], [74, 129, 247, 60]] y=zeros(2) -> y=[[89, 106, 83, 114], [116, 127, 110, 119]]
; run: halu, vp1, ptx: @k12_v4_bilinear items=300 x=random(1200, 21) y=zeros(300)
