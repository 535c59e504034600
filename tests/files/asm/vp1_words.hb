; test: asm vp1
; What only words can do is done item by item, in the scalar unit.
kernel @words(%k: i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = add.i32 %a, %k
  %m = icmp.lt_s.i32 %b, %k
  %r = select.i32 %m, %a, %b
  store %r, %y[%i]
  ret
}
; run: halu, vp1: @words items=1003 k=5 x=random(1003, 7) y=zeros(1003)
;= mov $r7 $m1
;= mov $r10 $m2
;= mov $a0 $r7
;= mov $a1 $r10
;= mov $r9 $m62
;= anop
;= mov $r10 $m0
;= ldas $r29 $a0 0x4
;= anop
;= add $r28 $r29 $r10
;= anop
;= sub $r9 $c1 $r9 0x1
;= max $r11 $r28 $r10
;= bra $c1 zf 0x1c
;= anop
;= xor 0x0 $c0 $r11 $r28
;= ldas $r29 $a0 0x4
;= add $r12 0x0 (slct $c0 zf $r29d)
;= stas $r12 $a1 0x4
;= add $r28 $r29 $r10
;= sub $r9 $c1 $r9 0x1
;= max $r11 $r28 $r10
;= bra not $c1 zf 0x10
;= xor 0x0 $c0 $r11 $r28
;= anop
;= add $r12 0x0 (slct $c0 zf $r29d)
;= bra 0x20
;= stas $r12 $a1 0x4
;= anop
;= add $r12 0x0 (slct $c0 zf $r29d)
;= vnop
;= stas $r12 $a1 0x4
;= exit 0x0
