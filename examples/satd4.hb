; SATD of blocks of 4 by 4 pixels, as x264 has it: half the sum of absolute values of a Hadamard transform of the differences.
; An item takes four rows of a block in words `w` apart; rows of both pictures are in half-words from the first difference on.
kernel @satd4(%w: i32, %a: in i8x4, %b: in i8x4, %s: out i32) {
^entry:
  %c2 = const.i8x4 0
  %c111 = const.i32 1
  %v1 = item_id
  %v3 = load %a[%v1 wide]
  %v4 = load %b[%v1 wide]
  %v5 = shuffle.i8x4 %v3, %c2, [0, 4, 1, 4]
  %v6 = bitcast.i16x2 %v5
  %v7 = shuffle.i8x4 %v4, %c2, [0, 4, 1, 4]
  %v8 = bitcast.i16x2 %v7
  %v9 = sub.i16x2 %v6, %v8
  %v10 = shuffle.i8x4 %v3, %c2, [2, 4, 3, 4]
  %v11 = bitcast.i16x2 %v10
  %v12 = shuffle.i8x4 %v4, %c2, [2, 4, 3, 4]
  %v13 = bitcast.i16x2 %v12
  %v14 = sub.i16x2 %v11, %v13
  %v15 = add.i32 %v1, %w
  %v16 = load %a[%v15 wide]
  %v17 = load %b[%v15 wide]
  %v18 = shuffle.i8x4 %v16, %c2, [0, 4, 1, 4]
  %v19 = bitcast.i16x2 %v18
  %v20 = shuffle.i8x4 %v17, %c2, [0, 4, 1, 4]
  %v21 = bitcast.i16x2 %v20
  %v22 = sub.i16x2 %v19, %v21
  %v23 = shuffle.i8x4 %v16, %c2, [2, 4, 3, 4]
  %v24 = bitcast.i16x2 %v23
  %v25 = shuffle.i8x4 %v17, %c2, [2, 4, 3, 4]
  %v26 = bitcast.i16x2 %v25
  %v27 = sub.i16x2 %v24, %v26
  %v28 = add.i32 %v15, %w
  %v29 = load %a[%v28 wide]
  %v30 = load %b[%v28 wide]
  %v31 = shuffle.i8x4 %v29, %c2, [0, 4, 1, 4]
  %v32 = bitcast.i16x2 %v31
  %v33 = shuffle.i8x4 %v30, %c2, [0, 4, 1, 4]
  %v34 = bitcast.i16x2 %v33
  %v35 = sub.i16x2 %v32, %v34
  %v36 = shuffle.i8x4 %v29, %c2, [2, 4, 3, 4]
  %v37 = bitcast.i16x2 %v36
  %v38 = shuffle.i8x4 %v30, %c2, [2, 4, 3, 4]
  %v39 = bitcast.i16x2 %v38
  %v40 = sub.i16x2 %v37, %v39
  %v41 = add.i32 %v28, %w
  %v42 = load %a[%v41 wide]
  %v43 = load %b[%v41 wide]
  %v44 = shuffle.i8x4 %v42, %c2, [0, 4, 1, 4]
  %v45 = bitcast.i16x2 %v44
  %v46 = shuffle.i8x4 %v43, %c2, [0, 4, 1, 4]
  %v47 = bitcast.i16x2 %v46
  %v48 = sub.i16x2 %v45, %v47
  %v49 = shuffle.i8x4 %v42, %c2, [2, 4, 3, 4]
  %v50 = bitcast.i16x2 %v49
  %v51 = shuffle.i8x4 %v43, %c2, [2, 4, 3, 4]
  %v52 = bitcast.i16x2 %v51
  %v53 = sub.i16x2 %v50, %v52
  %v54 = add.i32 %v41, %w
  %v55 = add.i16x2 %v9, %v22
  %v56 = sub.i16x2 %v9, %v22
  %v57 = add.i16x2 %v35, %v48
  %v58 = sub.i16x2 %v35, %v48
  %v59 = add.i16x2 %v55, %v57
  %v60 = add.i16x2 %v56, %v58
  %v61 = sub.i16x2 %v55, %v57
  %v62 = sub.i16x2 %v56, %v58
  %v63 = add.i16x2 %v14, %v27
  %v64 = sub.i16x2 %v14, %v27
  %v65 = add.i16x2 %v40, %v53
  %v66 = sub.i16x2 %v40, %v53
  %v67 = add.i16x2 %v63, %v65
  %v68 = add.i16x2 %v64, %v66
  %v69 = sub.i16x2 %v63, %v65
  %v70 = sub.i16x2 %v64, %v66
  %v71 = shuffle.i16x2 %v59, %v60, [0, 2]
  %v72 = shuffle.i16x2 %v59, %v60, [1, 3]
  %v73 = shuffle.i16x2 %v61, %v62, [0, 2]
  %v74 = shuffle.i16x2 %v61, %v62, [1, 3]
  %v75 = shuffle.i16x2 %v67, %v68, [0, 2]
  %v76 = shuffle.i16x2 %v67, %v68, [1, 3]
  %v77 = shuffle.i16x2 %v69, %v70, [0, 2]
  %v78 = shuffle.i16x2 %v69, %v70, [1, 3]
  %v79 = add.i16x2 %v71, %v72
  %v80 = sub.i16x2 %v71, %v72
  %v81 = add.i16x2 %v75, %v76
  %v82 = sub.i16x2 %v75, %v76
  %v83 = add.i16x2 %v79, %v81
  %v84 = add.i16x2 %v80, %v82
  %v85 = sub.i16x2 %v79, %v81
  %v86 = sub.i16x2 %v80, %v82
  %v87 = add.i16x2 %v73, %v74
  %v88 = sub.i16x2 %v73, %v74
  %v89 = add.i16x2 %v77, %v78
  %v90 = sub.i16x2 %v77, %v78
  %v91 = add.i16x2 %v87, %v89
  %v92 = add.i16x2 %v88, %v90
  %v93 = sub.i16x2 %v87, %v89
  %v94 = sub.i16x2 %v88, %v90
  %v95 = abs.i16x2 %v83
  %v96 = abs.i16x2 %v91
  %v97 = add.i16x2 %v95, %v96
  %v98 = abs.i16x2 %v84
  %v99 = add.i16x2 %v97, %v98
  %v100 = abs.i16x2 %v92
  %v101 = add.i16x2 %v99, %v100
  %v102 = abs.i16x2 %v85
  %v103 = add.i16x2 %v101, %v102
  %v104 = abs.i16x2 %v93
  %v105 = add.i16x2 %v103, %v104
  %v106 = abs.i16x2 %v86
  %v107 = add.i16x2 %v105, %v106
  %v108 = abs.i16x2 %v94
  %v109 = add.i16x2 %v107, %v108
  %v110 = reduce_add_u.i16x2 %v109
  %v112 = shr_u.i32 %v110, %c111
  store %v112, %s[%v1 wide]
  ret
}
; run: halu, ptx: @satd4 items=1 w=1 a=[[255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255]] b=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] s=zeros(1) -> s=[2040]
; run: halu, ptx: @satd4 items=1 w=1 a=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] b=[[255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255], [255, 255, 255, 255]] s=zeros(1) -> s=[2040]
; run: halu, ptx: @satd4 items=1 w=1 a=[[255, 0, 255, 0], [0, 255, 0, 255], [255, 0, 255, 0], [0, 255, 0, 255]] b=[[0, 255, 0, 255], [255, 0, 255, 0], [0, 255, 0, 255], [255, 0, 255, 0]] s=zeros(1) -> s=[2040]
; run: halu, ptx: @satd4 items=1 w=1 a=[[255, 0, 255, 0], [0, 255, 0, 255], [255, 0, 255, 0], [0, 255, 0, 255]] b=[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] s=zeros(1) -> s=[2040]
; run: halu, ptx: @satd4 items=32 w=32 a=random(128, 101) b=random(128, 201) s=zeros(32)
