ldavh $v0 $c0 $a0 (slct $c0 sf $a0d)
ldavv $v0 $c0 $a0 (slct $c0 sf $a0d)
ldas $r0 $c0 $a0 (slct $c0 sf $a0d)
xdld $a0 $a0d 0x0
stavh $v0 $c0 $a0 (slct $c0 sf $a0d)
stavv $v0 $c0 $a0 (slct $c0 sf $a0d)
stas $r0 $c0 $a0 (slct $c0 sf $a0d)
xdst $a0d $a0 0x0
ldaxh $v0q $c0 $a0 (slct $c0 sf $a0d)
ldaxv $v0q $c0 $a0 (slct $c0 sf $a0d)
aadd $a0 $c0 (slct $c0 sf $a0d)
add $a0 $c0 $a0 (slct $c0 sf $a0d)
setlo $a0 0x0
sethi $a0 0x0
xdbar st 0x0 0x0
xdwait st 0x0 0x0
ldavh $v0 $c0 $a0 0x0
ldavv $v0 $c0 $a0 0x0
ldas $r0 $c0 $a0 0x0
bitop 0x0 $a0 $c0 $a0 $a0
stavh $v0 $c0 $a0 0x0
stavv $v0 $c0 $a0 0x0
stas $r0 $c0 $a0 0x0
ldr $v0 $a0 $v0
ldvh $v0 $c0 $a0 0x0
ldvv $v0 $c0 $a0 0x0
lds $r0 $c0 $a0 0x0
.word 0xdb000000
stvh $v0 $c0 $a0 0x0
stvv $v0 $c0 $a0 0x0
sts $r0 $c0 $a0 0x0
anop
