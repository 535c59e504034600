; BT.709 full-range YUV to RGB in 8.8 fixed point, clamped; a pixel an item, a word out.
kernel @yuv2rgb_709(%y: in i8, %u: in i8, %v: in i8, %o: out i8x4) {
^entry:
  %c6 = const.i32 128
  %c11 = const.i32 403
  %c14 = const.i32 8
  %c17 = const.i32 0
  %c19 = const.i32 255
  %c22 = const.i32 48
  %c24 = const.i32 120
  %c33 = const.i32 475
  %c42 = const.i8 255
  %v1 = item_id
  %v2 = load %y[%v1]
  %v3 = zext.i32 %v2
  %v4 = load %u[%v1]
  %v5 = zext.i32 %v4
  %v7 = sub.i32 %v5, %c6
  %v8 = load %v[%v1]
  %v9 = zext.i32 %v8
  %v10 = sub.i32 %v9, %c6
  %v12 = mul.i32 %v10, %c11
  %v13 = add.i32 %v12, %c6
  %v15 = shr_s.i32 %v13, %c14
  %v16 = add.i32 %v3, %v15
  %v18 = max_s.i32 %v16, %c17
  %v20 = min_s.i32 %v18, %c19
  %v21 = trunc.i8 %v20
  %v23 = mul.i32 %v7, %c22
  %v25 = mul.i32 %v10, %c24
  %v26 = add.i32 %v23, %v25
  %v27 = add.i32 %v26, %c6
  %v28 = shr_s.i32 %v27, %c14
  %v29 = sub.i32 %v3, %v28
  %v30 = max_s.i32 %v29, %c17
  %v31 = min_s.i32 %v30, %c19
  %v32 = trunc.i8 %v31
  %v34 = mul.i32 %v7, %c33
  %v35 = add.i32 %v34, %c6
  %v36 = shr_s.i32 %v35, %c14
  %v37 = add.i32 %v3, %v36
  %v38 = max_s.i32 %v37, %c17
  %v39 = min_s.i32 %v38, %c19
  %v40 = trunc.i8 %v39
  %v41 = concat.i8x4 %v21, %v32, %v40, %c42
  store %v41, %o[%v1]
  ret
}

; run: halu, vp1, ptx: @yuv2rgb_709 items=256 y=random(256, 101) u=random(256, 102) v=random(256, 103)
; run: halu, vp1, ptx: @yuv2rgb_709 items=256 y=random(256, 201) u=random(256, 202) v=random(256, 203)
