; test: asm vp1
; Whole kernels as words are written, bundle by bundle.
kernel @lighten(%by: i8x4, %x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = add_sat_u.i8x4 %a, %by
  store %r, %y[%i]
  ret
}
;= mov $r14 $m2
;= mov $r12 $m62
;= mov $a1 $r14
;= add $r14 $r12 0x3
;= shr $r13 $r14 0x2
;= mov $r14 $m0
;= mov $v13 0x0 $r14
;= mov $v13 0x1 $r14
;= mov $r11 $m1
;= mov $v13 0x2 $r14
;= mov $a0 $r11
;= mov $v13 0x3 $r14
;= ldavh $v14 $a0 0x10
;= anop
;= sub $r13 $c0 $r13 0x1
;= vadd u $v15 $v14 $v13
;= ldavh $v14 $a0 0x10
;= snop
;= vnop
;= bra not $c0 zf 0x10
;= stavh $v15 $a1 0x10
;= sub $r13 $c0 $r13 0x1
;= vadd u $v15 $v14 $v13
;= bnop
;= exit 0x0

; An intrinsic of two bundles keeps their order.
kernel @intrinsic(%x: in i8x16, %z: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %z[%i]
  %r = intrinsic.i8x16 vp1 "vmul s rn fract 0x0 hi # s $0 s $1; vmac s rn fract 0x0 hi $d s $0 s $0", %a, %b
  store %r, %y[%i]
  ret
}
;= mov $r5 $m0
;= mov $r8 $m1
;= mov $r11 $m2
;= mov $a0 $r5
;= anop
;= mov $a1 $r8
;= anop
;= mov $a2 $r11
;= anop
;= mov $r9 $m62
;= ldavh $v10 $a0 0x10
;= sub $r9 $c0 $r9 0x1
;= ldavh $v11 $a1 0x10
;= bra $c0 zf 0x1c
;= anop
;= vmul s rn fract 0x0 hi # s $v10 s $v11
;= ldavh $v10 $a0 0x10
;= sub $r9 $c0 $r9 0x1
;= vmac s rn fract 0x0 hi $v12 s $v10 s $v10
;= bnop
;= ldavh $v11 $a1 0x10
;= bra not $c0 zf 0x10
;= stavh $v12 $a2 0x10
;= vmul s rn fract 0x0 hi # s $v10 s $v11
;= anop
;= vmac s rn fract 0x0 hi $v12 s $v10 s $v10
;= bra 0x20
;= stavh $v12 $a2 0x10
;= anop
;= snop
;= vmac s rn fract 0x0 hi $v12 s $v10 s $v10
;= stavh $v12 $a2 0x10
;= exit 0x0
