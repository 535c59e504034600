; Layer normalisation of a row of halves: the mean and then the variance in f32, as exact as two passes make it; then gain and bias. Item i takes
; row i of `n` words; `inv` is 1 over the number of halves of a row.
kernel @layernorm_h2(%n: i32, %inv: f32, %x: in f16x2, %g: in f16x2, %b: in f16x2, %y: out f16x2) {
^entry:
  %c3 = const.f32 0.0
  %c4 = const.i32 0
  %c15 = const.i32 1
  %c35 = const.f32 1.0
  %c37 = const.f32 1e-05
  %v1 = item_id
  %v2 = mul.i32 %v1, %n
  br ^l1(%c4, %c3, %v2)
^l1(%v5: i32, %v6: f32, %v7: i32):
  %v8 = load %x[%v7]
  %v9 = extract.f16x2 %v8, 0
  %v10 = fcvt.f32 %v9
  %v11 = fadd.f32 %v6, %v10
  %v12 = extract.f16x2 %v8, 1
  %v13 = fcvt.f32 %v12
  %v14 = fadd.f32 %v11, %v13
  %v16 = add.i32 %v7, %c15
  %v17 = add.i32 %v5, %c15
  %v18 = icmp.lt_s.i32 %v17, %n
  br_if %v18, ^l1(%v17, %v14, %v16), ^d1
^d1:
  %v19 = fmul.f32 %v14, %inv
  br ^l2(%c4, %c3, %v2)
^l2(%v20: i32, %v21: f32, %v22: i32):
  %v23 = load %x[%v22]
  %v24 = extract.f16x2 %v23, 0
  %v25 = fcvt.f32 %v24
  %v26 = fsub.f32 %v25, %v19
  %v27 = extract.f16x2 %v23, 1
  %v28 = fcvt.f32 %v27
  %v29 = fsub.f32 %v28, %v19
  %v30 = ffma.f32 %v26, %v26, %v21
  %v31 = ffma.f32 %v29, %v29, %v30
  %v32 = add.i32 %v22, %c15
  %v33 = add.i32 %v20, %c15
  %v34 = icmp.lt_s.i32 %v33, %n
  br_if %v34, ^l2(%v33, %v31, %v32), ^d2
^d2:
  %v36 = fmul.f32 %v31, %inv
  %v38 = fadd.f32 %v36, %c37
  %v39 = fsqrt.f32 %v38
  %v40 = fdiv.f32 %c35, %v39
  br ^l3(%c4, %v2)
^l3(%v41: i32, %v42: i32):
  %v43 = load %x[%v42]
  %v45 = extract.f16x2 %v43, 0
  %v46 = fcvt.f32 %v45
  %v47 = fsub.f32 %v46, %v19
  %v48 = fmul.f32 %v47, %v40
  %v49 = fcvt.f16 %v48
  %v50 = extract.f16x2 %v43, 1
  %v51 = fcvt.f32 %v50
  %v52 = fsub.f32 %v51, %v19
  %v53 = fmul.f32 %v52, %v40
  %v54 = fcvt.f16 %v53
  %v44 = concat.f16x2 %v49, %v54
  %v55 = load %g[%v41]
  %v56 = load %b[%v41]
  %v57 = ffma.f16x2 %v44, %v55, %v56
  store %v57, %y[%v42]
  %v58 = add.i32 %v42, %c15
  %v59 = add.i32 %v41, %c15
  %v60 = icmp.lt_s.i32 %v59, %n
  br_if %v60, ^l3(%v59, %v58), ^d3
^d3:
  ret
}

; run: halu, ptx: @layernorm_h2 items=8 n=32 inv=0.015625 x=random(256, 101) g=random(32, 102) b=random(32, 103)
