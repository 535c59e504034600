.word 0x00000000
bmul rd s $r0 u $r0 u $r0
bmula rd s $r0 u $r0 u $r0
.word 0x03000000
bvecmad $r0 $r0q $c0 sf $vc0 sf 0x0
bvecmadsel $r0 $r0q $c0 sf $vc0 sf 0x0
.word 0x06000000
.word 0x07000000
bmin s $r0 $c0 $r0 (slct $c0 sf $r0d)
bmax s $r0 $c0 $r0 (slct $c0 sf $r0d)
babs s $r0 $c0 $r0
bneg s $r0 $c0 $r0
badd s $r0 $c0 $r0 (slct $c0 sf $r0d)
bsub s $r0 $c0 $r0 (slct $c0 sf $r0d)
bshr s $r0 $c0 $r0 (slct $c0 sf $r0d)
bvec $r0 $vc0 sf 0x0
.word 0x10000000
bmul rd u $r0 u $r0 u $r0
bmula rd u $r0 u $r0 u $r0
.word 0x13000000
.word 0x14000000
.word 0x15000000
.word 0x16000000
.word 0x17000000
bmin u $r0 $c0 $r0 (slct $c0 sf $r0d)
bmax u $r0 $c0 $r0 (slct $c0 sf $r0d)
babs u $r0 $c0 $r0
bneg u $r0 $c0 $r0
badd u $r0 $c0 $r0 (slct $c0 sf $r0d)
bsub u $r0 $c0 $r0 (slct $c0 sf $r0d)
bshr u $r0 $c0 $r0 (slct $c0 sf $r0d)
.word 0x1f000000
.word 0x20000000
bmul rd s $r0 u $r0 u 0x0
bmula rd s $r0 u $r0 u 0x0
.word 0x23000000
vec 0x0 0x0 $vc0 sf 0x0
band $r0 $r0 0x0
bor $r0 $r0 0x0
bxor $r0 $r0 0x0
bmin s $r0 $c0 $r0 0x0
bmax s $r0 $c0 $r0 0x0
babs s $r0 $c0 $r0
bneg s $r0 $c0 $r0
badd s $r0 $c0 $r0 0x0
bsub s $r0 $c0 $r0 0x0
bshr s $r0 $c0 $r0 0x0
.word 0x2f000000
.word 0x30000000
bmul rd u $r0 u $r0 u 0x0
bmula rd u $r0 u $r0 u 0x0
.word 0x33000000
.word 0x34000000
.word 0x35000000
.word 0x36000000
.word 0x37000000
bmin u $r0 $c0 $r0 0x0
bmax u $r0 $c0 $r0 0x0
babs u $r0 $c0 $r0
bneg u $r0 $c0 $r0
badd u $r0 $c0 $r0 0x0
bsub u $r0 $c0 $r0 0x0
bshr u $r0 $c0 $r0 0x0
.word 0x3f000000
.word 0x40000000
mul $r0 $c0 $r0 (slct $c0 sf $r0d)
bitop 0x0 $r0 $c0 $r0 $r0
.word 0x43000000
.word 0x44000000
vecms $r0 $vc0 sf 0x0
.word 0x46000000
.word 0x47000000
min $r0 $c0 $r0 (slct $c0 sf $r0d)
max $r0 $c0 $r0 (slct $c0 sf $r0d)
abs $r0 $c0 $r0
neg $r0 $c0 $r0
add $r0 $c0 $r0 (slct $c0 sf $r0d)
sub $r0 $c0 $r0 (slct $c0 sf $r0d)
sar $r0 $c0 $r0 (slct $c0 sf $r0d)
snop
.word 0x50000000
mul $r0 $c0 $r0 (slct $c0 sf $r0d)
.word 0x52000000
.word 0x53000000
.word 0x54000000
.word 0x55000000
.word 0x56000000
.word 0x57000000
min $r0 $c0 $r0 (slct $c0 sf $r0d)
max $r0 $c0 $r0 (slct $c0 sf $r0d)
abs $r0 $c0 $r0
neg $r0 $c0 $r0
add $r0 $c0 $r0 (slct $c0 sf $r0d)
sub $r0 $c0 $r0 (slct $c0 sf $r0d)
shr $r0 $c0 $r0 (slct $c0 sf $r0d)
.word 0x5f000000
.word 0x60000000
mul $r0 $c0 $r0 0x0
and $r0 $c0 $r0 0x0
xor $r0 $c0 $r0 0x0
or $r0 $c0 $r0 0x0
mov $r0 0x0
.word 0x66000000
.word 0x67000000
min $r0 $c0 $r0 0x0
max $r0 $c0 $r0 0x0
mov $v0 0x0 $r0
mov $r0 $v0 0x0
add $r0 $c0 $r0 0x0
sub $r0 $c0 $r0 0x0
sar $r0 $c0 $r0 0x0
.word 0x6f000000
.word 0x70000000
mul $r0 $c0 $r0 0x0
.word 0x72000000
.word 0x73000000
.word 0x74000000
sethi $r0 0x0
.word 0x76000000
.word 0x77000000
min $r0 $c0 $r0 0x0
max $r0 $c0 $r0 0x0
abs $r0 $c0 $r0
neg $r0 $c0 $r0
add $r0 $c0 $r0 0x0
sub $r0 $c0 $r0 0x0
shr $r0 $c0 $r0 0x0
.word 0x7f000000
