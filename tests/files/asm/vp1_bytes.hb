; test: asm vp1
; Bytes in vectors: a sum that wraps goes through the accumulator, a comparison leaves its flags to the select in the next bundle.
kernel @bytes(%a: in i8x4, %b: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %s = add.i8x4 %va, %vb
  %d = absdiff_u.i8x4 %s, %vb
  %m = icmp.lt_u.i8x4 %d, %va
  %r = select.i8x4 %m, %d, %s
  store %r, %y[%i]
  ret
}
; run: halu, vp1: @bytes items=2003 a=random(2003, 1) b=random(2003, 2) y=zeros(2003)
;= mov $r16 $m1
;= mov $a1 $r16
;= mov $r16 $m62
;= mov $r13 $m0
;= mov $r19 $m2
;= add $r18 $r16 0x3
;= mov $r0 0x10100
;= mov $a0 $r13
;= mov $a2 $r19
;= anop
;= shr $r17 $r18 0x2
;= ldavh $v31 $a0 0x10
;= ldavh $v18 $a1 0x10
;= vmul s rd int 0x0 hi # u $v31 u 0x4
;= vmac s rd int -0x2 lo $v30 u $v18 u 0x4
;= vsub u $v17 $v30 $v18
;= vsub u $v19 $v18 $v30
;= anop
;= sub $r17 $c0 $r17 0x1
;= vor $v28 $v17 $v19
;= vcmpad 0xc $vc0 $v30d $v18
;= bra $c0 zf 0x2c
;= anop
;= mov $v29 $v30
;= ldavh $v31 $a0 0x10
;= bvec $r0 $vc0 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v20 u $v28d u $v28
;= bnop
;= ldavh $v18 $a1 0x10
;= vmul s rd int 0x0 hi # u $v31 u 0x4
;= stavh $v20 $a2 0x10
;= vmac s rd int -0x2 lo $v30 u $v18 u 0x4
;= vsub u $v17 $v30 $v18
;= vsub u $v19 $v18 $v30
;= sub $r17 $c0 $r17 0x1
;= vor $v28 $v17 $v19
;= vcmpad 0xc $vc0 $v30d $v18
;= bra not $c0 zf 0x18
;= anop
;= mov $v29 $v30
;= bvec $r0 $vc0 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v20 u $v28d u $v28
;= bra 0x30
;= stavh $v20 $a2 0x10
;= anop
;= bvec $r0 $vc0 sf 0x0
;= vmad2 u factor rd int -0x1 lo $v20 u $v28d u $v28
;= stavh $v20 $a2 0x10
;= exit 0x0
