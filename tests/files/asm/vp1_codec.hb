; test: asm vp1
; What instructions for video do of several ops: nine bits added, a byte held between two, the lesser absolute value, and
; differences compared one after another.
kernel @nine(%a: in i8x16, %d: in i16, %y: out i8x16) {
^entry:
  %i = item_id
  %2 = const.i32 2
  %k = mul.i32 %i, %2
  %p = load %a[%i]
  %low = load.i8x16 %d[%k] step 16
  %high = load.i8x16 %d[%k + 1] step 16
  %h = concat.i16x16 %low, %high
  %7 = const.i16x16 7
  %u = shl.i16x16 %h, %7
  %n = shr_s.i16x16 %u, %7
  %w = zext.i16x16 %p
  %s = add.i16x16 %w, %n
  %r = narrow_sat_u.i8x16 %s
  store %r, %y[%i]
  ret
}
; run: vp1: @nine items=503 a=random(503, 1) d=random(8048, 2) y=zeros(503)
;= mov $r6 $m0
;= mov $r9 $m1
;= mov $r12 $m2
;= mov $r15 $m3
;= mov $a0 $r6
;= mov $a1 $r9
;= mov $a2 $r12
;= mov $a3 $r15
;= mov $r12 $m62
;= ldavh $v13 $a0 0x10
;= ldavh $v14 $a1 0x10
;= sub $r12 $c0 $r12 0x1
;= ldavh $v15 $a2 0x10
;= bra $c0 zf 0x1c
;= anop
;= vadd9 $v12 $v13 $v14 $v15
;= ldavh $v13 $a0 0x10
;= snop
;= ldavh $v14 $a1 0x10
;= sub $r12 $c0 $r12 0x1
;= ldavh $v15 $a2 0x10
;= bra not $c0 zf 0x10
;= stavh $v12 $a3 0x10
;= vadd9 $v12 $v13 $v14 $v15
;= stavh $v12 $a3 0x10
;= anop
;= bra 0x20
;= anop
;= stavh $v12 $a3 0x10
;= snop
;= vnop
;= bnop
;= exit 0x0

kernel @step(%a: in i8x16, %b: in i8x16, %c: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %abs1 = abs.i8x16 %va
  %abs2 = abs.i8x16 %vb
  %least = min_u.i8x16 %abs1, %abs2
  %127 = const.i8x16 127
  %limit = min_u.i8x16 %least, %127
  %neg = neg.i8x16 %limit
  %from = max_s.i8x16 %vc, %neg
  %r = min_s.i8x16 %from, %limit
  store %r, %y[%i]
  ret
}
; run: vp1: @step items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) y=zeros(503)
;= mov $r8 $m0
;= mov $r11 $m1
;= mov $r14 $m2
;= mov $r17 $m3
;= mov $a0 $r8
;= mov $a1 $r11
;= mov $a2 $r14
;= mov $a3 $r17
;= mov $r14 $m62
;= ldavh $v15 $a0 0x10
;= ldavh $v17 $a1 0x10
;= sub $r14 $c0 $r14 0x1
;= ldavh $v16 $a2 0x10
;= vminabs $v15 $v15 $v17
;= bra $c0 zf 0x20
;= vneg s $v17 $v15
;= ldavh $v15 $a0 0x10
;= vclip $v14 $v16 $v17 $v15
;= ldavh $v17 $a1 0x10
;= sub $r14 $c0 $r14 0x1
;= ldavh $v16 $a2 0x10
;= snop
;= vminabs $v15 $v15 $v17
;= bra not $c0 zf 0x10
;= stavh $v14 $a3 0x10
;= snop
;= vneg s $v17 $v15
;= bnop
;= anop
;= vclip $v14 $v16 $v17 $v15
;= bra 0x24
;= stavh $v14 $a3 0x10
;= anop
;= snop
;= vclip $v14 $v16 $v17 $v15
;= stavh $v14 $a3 0x10
;= exit 0x0

kernel @close(%a: in i8x16, %b: in i8x16, %c: in i8x16, %near: i8, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %vn = splat.i8x16 %near
  %ab = absdiff_u.i8x16 %va, %vb
  %bc = absdiff_u.i8x16 %vb, %vc
  %ca = absdiff_u.i8x16 %vc, %va
  %n1 = icmp.lt_u.i8x16 %ab, %vn
  %n2 = icmp.lt_u.i8x16 %bc, %vn
  %n3 = icmp.ge_u.i8x16 %ca, %vn
  %m12 = and.i1x16 %n1, %n2
  %m = or.i1x16 %m12, %n3
  %r = select.i8x16 %m, %va, %vb
  store %r, %y[%i]
  ret
}
; run: vp1: @close items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) near=90 y=zeros(503)
;= mov $r22 $m0
;= vmov $v9 0x0
;= anop
;= mov $v19 0x0 $r22
;= mov $r15 $m1
;= vswz $v31 $v19 $v19 lo $v9
;= mov $r18 $m2
;= mov $v27 $v31
;= mov $r21 $m3
;= mov $v29 $v31
;= mov $r24 $m4
;= mov $r0 0x10100
;= mov $a0 $r15
;= mov $a1 $r18
;= mov $a2 $r21
;= mov $a3 $r24
;= mov $r21 $m62
;= ldavh $v30 $a0 0x10
;= ldavh $v28 $a1 0x10
;= mov $v24 $v30
;= ldavh $v26 $a2 0x10
;= vcmpad 0xc $vc0 $v30d $v28
;= sub $r21 $c0 $r21 0x1
;= mov $v25 $v28
;= anop
;= vec 0x0 0x0 $vc0 sf 0x0
;= vcmpad 0x8 $vc1 $v28d $v26
;= bra $c0 zf 0x38
;= anop
;= vec 0x0 0x0 $vc1 sf 0x0
;= vcmpad 0xb $vc2 $v26d $v30
;= bnop
;= ldavh $v30 $a0 0x10
;= bvec $r0 $vc2 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v25 u $v24d u $v24
;= bnop
;= ldavh $v28 $a1 0x10
;= mov $v24 $v30
;= ldavh $v26 $a2 0x10
;= vcmpad 0xc $vc0 $v30d $v28
;= stavh $v25 $a3 0x10
;= sub $r21 $c0 $r21 0x1
;= mov $v25 $v28
;= bnop
;= anop
;= vec 0x0 0x0 $vc0 sf 0x0
;= vcmpad 0x8 $vc1 $v28d $v26
;= bra not $c0 zf 0x20
;= anop
;= vec 0x0 0x0 $vc1 sf 0x0
;= vcmpad 0xb $vc2 $v26d $v30
;= bnop
;= bvec $r0 $vc2 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v25 u $v24d u $v24
;= bra 0x3c
;= stavh $v25 $a3 0x10
;= anop
;= bvec $r0 $vc2 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v25 u $v24d u $v24
;= stavh $v25 $a3 0x10
;= exit 0x0
