; Smith and Waterman with affine gaps in biased bytes: four alignments a word, the columns of H and E in memory, the substitution scores a table.
kernel @sw_bytes(%qn: i32, %dn: i32, %n: i32, %q: in i8, %db: in i8x4, %h: inout i8x4, %e: inout i8x4, %best: out i8x4, %mat: in i8 = [10, 4, 5, 5, 5, 4, 7, 2, 4, 10, 3, 3, 2, 6, 7, 2, 5, 3, 10, 5, 4, 3, 4, 8, 5, 3, 5, 10, 3, 4, 6, 5, 5, 2, 4, 3, 10, 7, 3, 2, 4, 6, 3, 4, 7, 10, 3, 4, 7, 7, 4, 6, 3, 3, 10, 5, 2, 2, 8, 5, 2, 4, 5, 10]) {
^entry:
  %c2 = const.i8x4 5
  %c3 = const.i8x4 1
  %c4 = const.i8x4 4
  %c5 = const.i8x4 0
  %c6 = const.i32 0
  %c13 = const.i32 3
  %c53 = const.i32 1
  %v1 = item_id
  br ^l1(%c6, %c5, %v1)
^l1(%v7: i32, %v8: i8x4, %v9: i32):
  %v10 = load %db[%v9]
  %v11 = extract.i8x4 %v10, 0
  %v12 = zext.i32 %v11
  %v14 = shl.i32 %v12, %c13
  %v15 = extract.i8x4 %v10, 1
  %v16 = zext.i32 %v15
  %v17 = shl.i32 %v16, %c13
  %v18 = extract.i8x4 %v10, 2
  %v19 = zext.i32 %v18
  %v20 = shl.i32 %v19, %c13
  %v21 = extract.i8x4 %v10, 3
  %v22 = zext.i32 %v21
  %v23 = shl.i32 %v22, %c13
  br ^l2(%c6, %c5, %c5, %v8, %v1)
^l2(%v24: i32, %v25: i8x4, %v26: i8x4, %v27: i8x4, %v28: i32):
  %v29 = load %q[%v24]
  %v30 = zext.i32 %v29
  %v31 = add.i32 %v14, %v30
  %v32 = load %mat[%v31]
  %v33 = add.i32 %v17, %v30
  %v34 = load %mat[%v33]
  %v35 = add.i32 %v20, %v30
  %v36 = load %mat[%v35]
  %v37 = add.i32 %v23, %v30
  %v38 = load %mat[%v37]
  %v39 = concat.i8x4 %v32, %v34, %v36, %v38
  %v40 = load %h[%v28]
  %v41 = load %e[%v28]
  %v42 = add_sat_u.i8x4 %v25, %v39
  %v43 = sub_sat_u.i8x4 %v42, %c4
  %v44 = max_u.i8x4 %v43, %v41
  %v45 = max_u.i8x4 %v44, %v26
  %v46 = max_u.i8x4 %v27, %v45
  store %v45, %h[%v28]
  %v47 = sub_sat_u.i8x4 %v45, %c2
  %v48 = sub_sat_u.i8x4 %v41, %c3
  %v49 = max_u.i8x4 %v48, %v47
  store %v49, %e[%v28]
  %v50 = sub_sat_u.i8x4 %v26, %c3
  %v51 = max_u.i8x4 %v50, %v47
  %v52 = add.i32 %v28, %n
  %v54 = add.i32 %v24, %c53
  %v55 = icmp.lt_s.i32 %v54, %qn
  br_if %v55, ^l2(%v54, %v40, %v51, %v46, %v52), ^d2
^d2:
  %v56 = add.i32 %v9, %n
  %v57 = add.i32 %v7, %c53
  %v58 = icmp.lt_s.i32 %v57, %dn
  br_if %v58, ^l1(%v57, %v46, %v56), ^d1
^d1:
  store %v46, %best[%v1]
  ret
}

; run: halu, ptx: @sw_bytes items=1 qn=12 dn=10 n=1 q=[0, 3, 5, 7, 2, 1, 3, 1, 4, 6, 0, 2] db=[0x00010203, 0x03050704, 0x05030200, 0x07010201, 0x02040607, 0x01020304, 0x05000306, 0x01030200, 0x04060205, 0x06030004] h=zeros(13) e=zeros(13)
; run: vp1: @sw_bytes items=1 qn=6 dn=7 n=1 q=[0, 3, 5, 7, 2, 1] db=[0x00010203, 0x03050704, 0x05030200, 0x07010201, 0x02040607, 0x01020304, 0x05000306] h=zeros(7) e=zeros(7)
