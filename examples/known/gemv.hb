; A matrix of halves times a vector: item i takes row i, of `n` words of two halves, and adds in f32.
kernel @gemv_h2(%n: i32, %w: in f16x2, %x: in f16x2, %y: out f16) {
^entry:
  %c2 = const.f32 0.0
  %c4 = const.i32 0
  %c21 = const.i32 1
  %v1 = item_id
  %v3 = mul.i32 %v1, %n
  br ^l1(%c4, %c2, %c2, %v3)
^l1(%v5: i32, %v6: f32, %v7: f32, %v8: i32):
  %v9 = load %w[%v8]
  %v10 = load %x[%v5]
  %v11 = extract.f16x2 %v9, 0
  %v12 = fcvt.f32 %v11
  %v13 = extract.f16x2 %v10, 0
  %v14 = fcvt.f32 %v13
  %v15 = ffma.f32 %v12, %v14, %v6
  %v16 = extract.f16x2 %v9, 1
  %v17 = fcvt.f32 %v16
  %v18 = extract.f16x2 %v10, 1
  %v19 = fcvt.f32 %v18
  %v20 = ffma.f32 %v17, %v19, %v7
  %v22 = add.i32 %v8, %c21
  %v23 = add.i32 %v5, %c21
  %v24 = icmp.lt_s.i32 %v23, %n
  br_if %v24, ^l1(%v23, %v15, %v20, %v22), ^d1
^d1:
  %v25 = fadd.f32 %v15, %v20
  %v26 = fcvt.f16 %v25
  store %v26, %y[%v1]
  ret
}

; run: halu, ptx: @gemv_h2 items=16 n=32 w=random(512, 101) x=random(32, 101)
; run: halu, ptx: @gemv_h2 items=16 n=32 w=random(512, 201) x=random(32, 201)
