kernel @k(%n: i32, %w: i32, %s: i8x4, %x: in i8x4, %v: in i32, %b: in i8, %y: out i8x4, %z: inout i32, %q: out i8) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %three = const.i32 3
  %eight = const.i32 8
  %row = mul.i32 %i, %eight
  %v1 = load %x[%i]
  %v2 = load %v[%i + 1]
  %v3 = load %x[%i + 1]
  %v4 = load %x[%row]
  %v5 = const.i1 0
  br_if %v5, ^thenv6, ^elsev6
^thenv6:
  %v7 = const.i1x4 0
  %v8 = const.i8x4 6
  %v9 = select.i8x4 %v7, %v1, %v8
  %v10 = const.i32 1
  %v11 = and.i32 %v10, %three
  br ^loopv12(%zero, %v9, %v10)
^loopv12(%v13: i32, %v14: i8x4, %v15: i32):
  %v16 = icmp.lt_u.i32 %n, %w
  %v18 = const.i8 171
  %v19 = const.i8x4 0
  br_if %v16, ^thenv17, ^joinv17(%v18, %v19)
^thenv17:
  %v20 = extract.i8x4 %v1, 0
  %v21 = const.i8 0
  %v22 = splat.i8x4 %v21
  %v23 = insert.i1x4 %v7, %v16, 3
  br ^joinv17(%v21, %v9)
^joinv17(%v24: i8, %v25: i8x4):
  %v26 = mask_expand.i8x4 %v7
  br_if %v5, ^retv27, ^onv27
^retv27:
  ret
^onv27:
  %v28 = add.i32 %v13, %one
  %v29 = icmp.lt_s.i32 %v13, %v11
  br_if %v29, ^stayv12, ^exitv12(%v1)
^stayv12:
  %v30 = xor.i1 %v29, %v29
  br ^loopv12(%v28, %v9, %i)
^exitv12(%v31: i8x4):
  br ^loopv32(%zero, %v31)
^loopv32(%v33: i32, %v34: i8x4):
  %v35 = select.i1x4 %v5, %v7, %v7
  %v36 = any.i1x4 %v35
  %v37 = icmp.lt_u.i32 %v33, %three
  br_if %v37, ^bodyv32, ^exitv32(%v34)
^bodyv32:
  %v38 = mask_expand.i32 %v37
  %v39 = extract.i8x4 %v34, 3
  %v40 = add.i32 %v33, %one
  br ^loopv32(%v40, %v4)
^exitv32(%v41: i8x4):
  br ^joinv6(%v5, %v41)
^elsev6:
  %v42 = const.i1 1
  br ^joinv6(%v42, %v4)
^joinv6(%v43: i1, %v44: i8x4):
  %v45 = icmp.lt_u.i32 %n, %w
  %v47 = const.i1x4 1
  br_if %v45, ^thenv46, ^elsev46
^thenv46:
  %v48 = const.i1x4 0
  br_if %v45, ^joinv46(%v45, %v48), ^joinv46(%v5, %v48)
^elsev46:
  br_if %v43, ^joinv46(%v43, %v47), ^joinv46(%v45, %v47)
^joinv46(%v49: i1, %v50: i1x4):
  %v51 = const.i8x4 3
  %v52 = avg_u.i8x4 %v51, %v4
  %v53 = extract.i8x4 %v44, 3
  %v54 = const.i8 254
  %v55 = avg_s.i8 %v54, %v54
  %v56 = mul.i32 %i, %v2
  %v57 = splat.i8x4 %v54
  %v58 = icmp.lt_s.i32 %n, %v2
  br_if %v58, ^thenv59, ^elsev59
^thenv59:
  br ^joinv59(%v4, %v47)
^elsev59:
  store %v55, %q[%row + 4]
  br ^joinv59(%v52, %v50)
^joinv59(%v60: i8x4, %v61: i1x4):
  %v62 = const.i8x4 27
  store %v62, %y[%row + 7]
  store %v2, %z[%row + 7]
  ret
}
