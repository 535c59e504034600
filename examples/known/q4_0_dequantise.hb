; llama.cpp's Q4_0 to halves: a block is a scale in half precision and 32 weights of four bits, 18 bytes. Item i takes block i and writes 16
; words. A weight under the exponent of 1024, 0x6400, is a half that needs but a subtraction.
kernel @q4_0_deq(%q: in i8 align 2, %y: out f16x2) {
^entry:
  %c2 = const.i32 18
  %c6 = const.i32 16
  %c11 = const.i32 252645135
  %c14 = const.i8x4 [0x64, 0x64, 0x64, 0x64]
  %c17 = const.f16x2 1032.0
  %c24 = const.i32 4
  %v1 = item_id
  %v3 = mul.i32 %v1, %c2
  %v4 = load.f16 %q[%v3] align 2
  %v5 = splat.f16x2 %v4
  %v7 = mul.i32 %v1, %c6
  %v8 = load.i16 %q[%v3 + 2] align 2
  %v9 = load.i16 %q[%v3 + 4] align 2
  %v10 = concat.i32 %v8, %v9
  %v12 = and.i32 %v10, %c11
  %v13 = bitcast.i8x4 %v12
  %v15 = shuffle.i8x4 %v13, %c14, [0, 4, 1, 4]
  %v16 = bitcast.f16x2 %v15
  %v18 = fsub.f16x2 %v16, %c17
  %v19 = fmul.f16x2 %v18, %v5
  store %v19, %y[%v7]
  %v20 = shuffle.i8x4 %v13, %c14, [2, 4, 3, 4]
  %v21 = bitcast.f16x2 %v20
  %v22 = fsub.f16x2 %v21, %c17
  %v23 = fmul.f16x2 %v22, %v5
  store %v23, %y[%v7 + 1]
  %v25 = shr_u.i32 %v10, %c24
  %v26 = and.i32 %v25, %c11
  %v27 = bitcast.i8x4 %v26
  %v28 = shuffle.i8x4 %v27, %c14, [0, 4, 1, 4]
  %v29 = bitcast.f16x2 %v28
  %v30 = fsub.f16x2 %v29, %c17
  %v31 = fmul.f16x2 %v30, %v5
  store %v31, %y[%v7 + 8]
  %v32 = shuffle.i8x4 %v27, %c14, [2, 4, 3, 4]
  %v33 = bitcast.f16x2 %v32
  %v34 = fsub.f16x2 %v33, %c17
  %v35 = fmul.f16x2 %v34, %v5
  store %v35, %y[%v7 + 9]
  %v36 = load.i16 %q[%v3 + 6] align 2
  %v37 = load.i16 %q[%v3 + 8] align 2
  %v38 = concat.i32 %v36, %v37
  %v39 = and.i32 %v38, %c11
  %v40 = bitcast.i8x4 %v39
  %v41 = shuffle.i8x4 %v40, %c14, [0, 4, 1, 4]
  %v42 = bitcast.f16x2 %v41
  %v43 = fsub.f16x2 %v42, %c17
  %v44 = fmul.f16x2 %v43, %v5
  store %v44, %y[%v7 + 2]
  %v45 = shuffle.i8x4 %v40, %c14, [2, 4, 3, 4]
  %v46 = bitcast.f16x2 %v45
  %v47 = fsub.f16x2 %v46, %c17
  %v48 = fmul.f16x2 %v47, %v5
  store %v48, %y[%v7 + 3]
  %v49 = shr_u.i32 %v38, %c24
  %v50 = and.i32 %v49, %c11
  %v51 = bitcast.i8x4 %v50
  %v52 = shuffle.i8x4 %v51, %c14, [0, 4, 1, 4]
  %v53 = bitcast.f16x2 %v52
  %v54 = fsub.f16x2 %v53, %c17
  %v55 = fmul.f16x2 %v54, %v5
  store %v55, %y[%v7 + 10]
  %v56 = shuffle.i8x4 %v51, %c14, [2, 4, 3, 4]
  %v57 = bitcast.f16x2 %v56
  %v58 = fsub.f16x2 %v57, %c17
  %v59 = fmul.f16x2 %v58, %v5
  store %v59, %y[%v7 + 11]
  %v60 = load.i16 %q[%v3 + 10] align 2
  %v61 = load.i16 %q[%v3 + 12] align 2
  %v62 = concat.i32 %v60, %v61
  %v63 = and.i32 %v62, %c11
  %v64 = bitcast.i8x4 %v63
  %v65 = shuffle.i8x4 %v64, %c14, [0, 4, 1, 4]
  %v66 = bitcast.f16x2 %v65
  %v67 = fsub.f16x2 %v66, %c17
  %v68 = fmul.f16x2 %v67, %v5
  store %v68, %y[%v7 + 4]
  %v69 = shuffle.i8x4 %v64, %c14, [2, 4, 3, 4]
  %v70 = bitcast.f16x2 %v69
  %v71 = fsub.f16x2 %v70, %c17
  %v72 = fmul.f16x2 %v71, %v5
  store %v72, %y[%v7 + 5]
  %v73 = shr_u.i32 %v62, %c24
  %v74 = and.i32 %v73, %c11
  %v75 = bitcast.i8x4 %v74
  %v76 = shuffle.i8x4 %v75, %c14, [0, 4, 1, 4]
  %v77 = bitcast.f16x2 %v76
  %v78 = fsub.f16x2 %v77, %c17
  %v79 = fmul.f16x2 %v78, %v5
  store %v79, %y[%v7 + 12]
  %v80 = shuffle.i8x4 %v75, %c14, [2, 4, 3, 4]
  %v81 = bitcast.f16x2 %v80
  %v82 = fsub.f16x2 %v81, %c17
  %v83 = fmul.f16x2 %v82, %v5
  store %v83, %y[%v7 + 13]
  %v84 = load.i16 %q[%v3 + 14] align 2
  %v85 = load.i16 %q[%v3 + 16] align 2
  %v86 = concat.i32 %v84, %v85
  %v87 = and.i32 %v86, %c11
  %v88 = bitcast.i8x4 %v87
  %v89 = shuffle.i8x4 %v88, %c14, [0, 4, 1, 4]
  %v90 = bitcast.f16x2 %v89
  %v91 = fsub.f16x2 %v90, %c17
  %v92 = fmul.f16x2 %v91, %v5
  store %v92, %y[%v7 + 6]
  %v93 = shuffle.i8x4 %v88, %c14, [2, 4, 3, 4]
  %v94 = bitcast.f16x2 %v93
  %v95 = fsub.f16x2 %v94, %c17
  %v96 = fmul.f16x2 %v95, %v5
  store %v96, %y[%v7 + 7]
  %v97 = shr_u.i32 %v86, %c24
  %v98 = and.i32 %v97, %c11
  %v99 = bitcast.i8x4 %v98
  %v100 = shuffle.i8x4 %v99, %c14, [0, 4, 1, 4]
  %v101 = bitcast.f16x2 %v100
  %v102 = fsub.f16x2 %v101, %c17
  %v103 = fmul.f16x2 %v102, %v5
  store %v103, %y[%v7 + 14]
  %v104 = shuffle.i8x4 %v99, %c14, [2, 4, 3, 4]
  %v105 = bitcast.f16x2 %v104
  %v106 = fsub.f16x2 %v105, %c17
  %v107 = fmul.f16x2 %v106, %v5
  store %v107, %y[%v7 + 15]
  ret
}

; run: halu, vp1, ptx: @q4_0_deq items=32 q=random(576, 101)
; run: halu, vp1, ptx: @q4_0_deq items=32 q=random(576, 201)
