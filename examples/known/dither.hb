; Floyd and Steinberg's dithering to black and white, which is serial: one item does it all, with the errors of a row in `e`.
kernel @fs_dither(%w: i32, %h: i32, %s: in i8, %e: inout i16, %d: out i8) {
^entry:
  %c2 = const.i32 0
  %c15 = const.i32 4
  %c18 = const.i32 127
  %c20 = const.i32 255
  %c24 = const.i32 3
  %c28 = const.i32 7
  %c30 = const.i32 5
  %c33 = const.i32 1
  %v1 = item_id
  br ^l1(%c2, %c2)
^l1(%v3: i32, %v4: i32):
  br ^l2(%c2, %c2, %c2, %c2, %v4)
^l2(%v5: i32, %v6: i32, %v7: i32, %v8: i32, %v9: i32):
  %v10 = load %s[%v9]
  %v11 = zext.i32 %v10
  %v12 = load %e[%v5 + 1]
  %v13 = sext.i32 %v12
  %v14 = add.i32 %v13, %v6
  %v16 = shr_s.i32 %v14, %c15
  %v17 = add.i32 %v11, %v16
  %v19 = icmp.gt_s.i32 %v17, %c18
  %v21 = select.i32 %v19, %c20, %c2
  %v22 = trunc.i8 %v21
  store %v22, %d[%v9]
  %v23 = sub.i32 %v17, %v21
  %v25 = mul.i32 %v23, %c24
  %v26 = add.i32 %v7, %v25
  %v27 = trunc.i16 %v26
  store %v27, %e[%v5]
  %v29 = mul.i32 %v23, %c28
  %v31 = mul.i32 %v23, %c30
  %v32 = add.i32 %v8, %v31
  %v34 = add.i32 %v9, %c33
  %v35 = add.i32 %v5, %c33
  %v36 = icmp.lt_s.i32 %v35, %w
  br_if %v36, ^l2(%v35, %v29, %v32, %v23, %v34), ^d2
^d2:
  %v37 = trunc.i16 %v32
  store %v37, %e[%w]
  %v38 = add.i32 %v3, %c33
  %v39 = icmp.lt_s.i32 %v38, %h
  br_if %v39, ^l1(%v38, %v34), ^d1
^d1:
  ret
}

; run: halu, ptx: @fs_dither items=1 w=128 h=40 s=random(5120, 101) e=zeros(130)
; run: vp1: @fs_dither items=1 w=16 h=10 s=random(160, 101) e=zeros(18)
