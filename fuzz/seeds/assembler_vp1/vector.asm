vmul s rd fract 0x0 hi # u $v0 u $v0
vmul s rd fract 0x0 hi $v0 u $v0 u $v0
vmac s rd fract 0x0 hi $v0 u $v0 u $v0
vmac s rd fract 0x0 hi # u $v0 u $v0
vmad2 s factor rd fract 0x0 hi # u $v0d u $v0
vmad2 s factor rd fract 0x0 hi $v0 u $v0d u $v0
vmac2 s factor rd fract 0x0 hi # u $v0d
vmac2 s factor rd fract 0x0 hi $v0 u $v0d
vmin s $v0 $vc0 $v0 $v0
vmax s $v0 $vc0 $v0 $v0
vabs s $v0 $vc0 $v0
vneg s $v0 $vc0 $v0
vadd s $v0 $vc0 $v0 $v0
vsub s $v0 $vc0 $v0 $v0
vshr s $v0 $vc0 $v0 $v0
vcmpad 0x0 $vc0 $v0d (slct $c0 sf $v0d)
vlrp rd 0x0 $v0 $v0d $v0
vmul u rd fract 0x0 hi $v0 u $v0 u $v0
vmac u rd fract 0x0 hi $v0 u $v0 u $v0
vmac u rd fract 0x0 hi # u $v0 u $v0
vbitop 0x0 $v0 $vc0 $v0 $v0
vmad2 u factor rd fract 0x0 hi $v0 u $v0d u $v0
vmac2 u factor rd fract 0x0 hi # u $v0 $v0
vmac2 u factor rd fract 0x0 hi $v0 u $v0d
vmin u $v0 $vc0 $v0 $v0
vmax u $v0 $vc0 $v0 $v0
vabs u $v0 $vc0 $v0
vswz $v0 $v0 $v0 lo $v0
vadd u $v0 $vc0 $v0 $v0
vsub u $v0 $vc0 $v0 $v0
vshr u $v0 $vc0 $v0 $v0
vadd9 $v0 $vc0 $v0 $v0 $v0
vmul s rd fract 0x0 hi # u $v0 u 0x0
vmul s rd fract 0x0 hi $v0 u $v0 u 0x0
vmac s rd fract 0x0 hi $v0 u $v0 u 0x0
vmac s rd fract 0x0 hi # u $v0 u 0x0
vclip $v0 $vc0 $v0 $v0 $v0
vminabs $v0 $vc0 $v0 $v0
vmac2 s factor rd fract 0x0 hi # u $v0 $v0
vmac2 s factor rd fract 0x0 hi $v0 u $v0 $v0
vmin s $v0 $vc0 $v0 0x0
vmax s $v0 $vc0 $v0 0x0
vand $v0 $vc0 $v0 0x0
vxor $v0 $vc0 $v0 0x0
vadd s $v0 $vc0 $v0 0x0
vmov $v0 $vc0 0x0
vshr s $v0 $vc0 $v0 0x0
vor $v0 $vc0 $v0 0x0
vmul u rd fract 0x0 hi # u $v0 u 0x0
vmul u rd fract 0x0 hi $v0 u $v0 u 0x0
vmac u rd fract 0x0 hi $v0 u $v0 u 0x0
vlrp2 u rd 0x0 $v0 u $v0q $c0 $vc0 sf
vlrp4a rd 0x0 # $v0q $c0 $vc0 sf
vlrpf rd 0x0 # $v0q $c0 $v0 $vc0 sf
vlrp4b u rd 0x0 $v0 $v0q $c0 $c0 sf $vc0 sf
vlrp4b s rd 0x0 $v0 $v0q $c0 $c0 sf $vc0 sf
vmin u $v0 $vc0 $v0 0x0
vmax u $v0 $vc0 $v0 0x0
mov $v0 $vc0 $v0
mov $v0 $vc
vadd u $v0 $vc0 $v0 0x0
vsub u $v0 $vc0 $v0 0x0
vshr u $v0 $vc0 $v0 0x0
vnop
