; SiLU, x / (1 + exp(-x)), of two halves a word: in f32, by a polynomial for the exponential.
kernel @silu(%x: in f16x2, %y: out f16x2) {
^entry:
  %c5 = const.f32 -1.442695
  %c7 = const.f32 -126.0
  %c9 = const.f32 126.0
  %c11 = const.f32 12582912.0
  %c15 = const.f32 0.0013333558
  %c16 = const.f32 0.009618129
  %c18 = const.f32 0.05550411
  %c20 = const.f32 0.2402265
  %c22 = const.f32 0.6931472
  %c24 = const.f32 1.0
  %c28 = const.i32 23
  %v1 = item_id
  %v2 = load %x[%v1]
  %v3 = extract.f16x2 %v2, 0
  %v4 = fcvt.f32 %v3
  %v6 = fmul.f32 %v4, %c5
  %v8 = fmax.f32 %v6, %c7
  %v10 = fmin.f32 %v8, %c9
  %v12 = fadd.f32 %v10, %c11
  %v13 = fsub.f32 %v12, %c11
  %v14 = fsub.f32 %v10, %v13
  %v17 = ffma.f32 %c15, %v14, %c16
  %v19 = ffma.f32 %v17, %v14, %c18
  %v21 = ffma.f32 %v19, %v14, %c20
  %v23 = ffma.f32 %v21, %v14, %c22
  %v25 = ffma.f32 %v23, %v14, %c24
  %v26 = bitcast.i32 %v25
  %v27 = bitcast.i32 %v12
  %v29 = shl.i32 %v27, %c28
  %v30 = add.i32 %v26, %v29
  %v31 = bitcast.f32 %v30
  %v32 = fadd.f32 %v31, %c24
  %v33 = fdiv.f32 %v4, %v32
  %v34 = fcvt.f16 %v33
  %v35 = extract.f16x2 %v2, 1
  %v36 = fcvt.f32 %v35
  %v37 = fmul.f32 %v36, %c5
  %v38 = fmax.f32 %v37, %c7
  %v39 = fmin.f32 %v38, %c9
  %v40 = fadd.f32 %v39, %c11
  %v41 = fsub.f32 %v40, %c11
  %v42 = fsub.f32 %v39, %v41
  %v43 = ffma.f32 %c15, %v42, %c16
  %v44 = ffma.f32 %v43, %v42, %c18
  %v45 = ffma.f32 %v44, %v42, %c20
  %v46 = ffma.f32 %v45, %v42, %c22
  %v47 = ffma.f32 %v46, %v42, %c24
  %v48 = bitcast.i32 %v47
  %v49 = bitcast.i32 %v40
  %v50 = shl.i32 %v49, %c28
  %v51 = add.i32 %v48, %v50
  %v52 = bitcast.f32 %v51
  %v53 = fadd.f32 %v52, %c24
  %v54 = fdiv.f32 %v36, %v53
  %v55 = fcvt.f16 %v54
  %v56 = concat.f16x2 %v34, %v55
  store %v56, %y[%v1]
  ret
}

; run: halu, ptx: @silu items=64 x=random(64, 101)
; run: halu, ptx: @silu items=64 x=random(64, 201)
