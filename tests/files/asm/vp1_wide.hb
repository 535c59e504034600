; test: asm vp1
; Wide lanes are there as sums of products that the accumulator holds exactly, and narrowed as they are read from it: products
; of vectors one by one, of vectors and factors in pairs, and what lies between two vectors at once.
kernel @products(%a: in i8x16, %b: in i8x16, %c: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %p = mul_wide_s.i8x16 %va, %vb
  %q = mul_wide_s.i8x16 %vb, %vc
  %p32 = sext.i32x16 %p
  %q32 = sext.i32x16 %q
  %s = add.i32x16 %p32, %q32
  %8 = const.i32x16 8
  %h = round_shr_s.i32x16 %s, %8
  %n = narrow_sat_s.i16x16 %h
  %r = narrow_sat_s.i8x16 %n
  store %r, %y[%i]
  ret
}
; run: vp1: @products items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) y=zeros(503)
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
;= vmul s rd int 0x0 hi # s $v13 s $v14
;= bra $c0 zf 0x20
;= vmac s rn int 0x0 hi $v16 s $v14 s $v15
;= ldavh $v13 $a0 0x10
;= snop
;= ldavh $v14 $a1 0x10
;= sub $r12 $c0 $r12 0x1
;= ldavh $v15 $a2 0x10
;= snop
;= vmul s rd int 0x0 hi # s $v13 s $v14
;= bra not $c0 zf 0x10
;= stavh $v16 $a3 0x10
;= snop
;= vmac s rn int 0x0 hi $v16 s $v14 s $v15
;= stavh $v16 $a3 0x10
;= anop
;= snop
;= bra 0x24
;= anop
;= stavh $v16 $a3 0x10
;= snop
;= vnop
;= bnop
;= exit 0x0

; Half way between pixels: 1, -5, 20, 20, -5 and 1 thirty-seconds of six neighbours.
kernel @six(%a: in i8x16, %b: in i8x16, %c: in i8x16, %d: in i8x16, %e: in i8x16, %f: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %vd = load %d[%i]
  %ve = load %e[%i]
  %vf = load %f[%i]
  %wa = zext.i16x16 %va
  %wb = zext.i16x16 %vb
  %wc = zext.i16x16 %vc
  %wd = zext.i16x16 %vd
  %we = zext.i16x16 %ve
  %wf = zext.i16x16 %vf
  %5 = const.i16x16 5
  %20 = const.i16x16 20
  %outer = add.i16x16 %wa, %wf
  %next = add.i16x16 %wb, %we
  %inner = add.i16x16 %wc, %wd
  %n5 = mul.i16x16 %next, %5
  %i20 = mul.i16x16 %inner, %20
  %s = sub.i16x16 %i20, %n5
  %t = add.i16x16 %s, %outer
  %h = round_shr_s.i16x16 %t, %5
  %r = narrow_sat_u.i8x16 %h
  store %r, %y[%i]
  ret
}
; run: vp1: @six items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) d=random(503, 4) e=random(503, 5) f=random(503, 6) y=zeros(503)
;= mov $r11 $m0
;= vmov $v0 0x0
;= mov $r14 $m1
;= mov $r17 $m2
;= mov $r20 $m3
;= mov $r23 $m4
;= mov $r26 $m5
;= mov $r29 $m6
;= mov $a0 $r11
;= mov $a1 $r14
;= mov $a2 $r17
;= mov $a3 $r20
;= mov $a4 $r23
;= mov $a5 $r26
;= anop
;= mov $a6 $r29
;= anop
;= mov $r23 $m62
;= ldavh $v30 $a2 0x10
;= ldavh $v31 $a3 0x10
;= ldavh $v28 $a1 0x10
;= ldavh $v29 $a4 0x10
;= anop
;= sub $r23 $c0 $r23 0x1
;= ldavh $v27 $a5 0x10
;= vec 0x14 0x14 $vc0 sf 0x0
;= vmad2 s factor rd int 0x3 hi # u $v30d u $v0
;= bra $c0 zf 0x34
;= ldavh $v26 $a0 0x10
;= vec -0x5 -0x5 $vc0 sf 0x0
;= vmac2 s factor rd int 0x3 hi # u $v28d
;= bnop
;= ldavh $v30 $a2 0x10
;= vec 0x1 0x1 $vc0 sf 0x0
;= vmac2 u factor rn int 0x3 hi $v26 u $v26d
;= ldavh $v31 $a3 0x10
;= ldavh $v28 $a1 0x10
;= ldavh $v29 $a4 0x10
;= stavh $v26 $a6 0x10
;= sub $r23 $c0 $r23 0x1
;= ldavh $v27 $a5 0x10
;= vec 0x14 0x14 $vc0 sf 0x0
;= vmad2 s factor rd int 0x3 hi # u $v30d u $v0
;= bra not $c0 zf 0x20
;= ldavh $v26 $a0 0x10
;= vec -0x5 -0x5 $vc0 sf 0x0
;= vmac2 s factor rd int 0x3 hi # u $v28d
;= bnop
;= vec 0x1 0x1 $vc0 sf 0x0
;= vmac2 u factor rn int 0x3 hi $v26 u $v26d
;= bra 0x38
;= stavh $v26 $a6 0x10
;= anop
;= vec 0x1 0x1 $vc0 sf 0x0
;= vmac2 u factor rn int 0x3 hi $v26 u $v26d
;= stavh $v26 $a6 0x10
;= exit 0x0

kernel @between(%a: in i8x16, %b: in i8x16, %w: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vw = load %w[%i]
  %ea = zext.i32x16 %va
  %eb = zext.i32x16 %vb
  %ew = zext.i32x16 %vw
  %d = sub.i32x16 %eb, %ea
  %m = mul.i32x16 %d, %ew
  %8 = const.i32x16 8
  %h = shr_s.i32x16 %m, %8
  %s = add.i32x16 %ea, %h
  %r = trunc.i8x16 %s
  store %r, %y[%i]
  ret
}
; run: vp1: @between items=503 a=random(503, 1) b=random(503, 2) w=random(503, 3) y=zeros(503)
;= mov $r6 $m0
;= mov $r9 $m1
;= mov $r12 $m2
;= mov $r15 $m3
;= mov $a0 $r6
;= mov $a1 $r9
;= mov $a2 $r12
;= mov $a3 $r15
;= mov $r12 $m62
;= ldavh $v31 $a0 0x10
;= ldavh $v30 $a1 0x10
;= sub $r12 $c0 $r12 0x1
;= ldavh $v13 $a2 0x10
;= bra $c0 zf 0x1c
;= anop
;= vlrp rd 0x0 $v14 $v30d $v13
;= ldavh $v31 $a0 0x10
;= snop
;= ldavh $v30 $a1 0x10
;= sub $r12 $c0 $r12 0x1
;= ldavh $v13 $a2 0x10
;= bra not $c0 zf 0x10
;= stavh $v14 $a3 0x10
;= vlrp rd 0x0 $v14 $v30d $v13
;= stavh $v14 $a3 0x10
;= anop
;= bra 0x20
;= anop
;= stavh $v14 $a3 0x10
;= snop
;= vnop
;= bnop
;= exit 0x0
