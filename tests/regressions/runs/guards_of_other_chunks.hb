; Items that part at a switch, of which one is in the second chunk of a row: what guards hold for is nobody there.
kernel @guards_of_other_chunks(%s0: i16x2, %s1: i16, %x2: in i8 align 16, %x3: in f64 align 16, %x4: in i32 align 16, %y7: inout may_alias i32 align 16, %x9: in bf16 align 16, %s10: i32, %n11: i32, %x14: in i16x2 align 16, %r15: out i32 align 16, %r22: out i16 align 16, %r23: out f16 align 16, %r24: out i16x2 align 16, %x: in i32) {
  scratch %m0: i16x2[8]
  scratch %m1: i32[8]
  scratch %m2: i8[8]
  shared %m3: f16[256]
^b1:
  %0 = item_id
  %3 = const.i1 0
  %1 = intrinsic.f16x2 halu "F2F.F32.F16 $d, $0 ;", %s0
  %7 = load %x2
  %8 = zext.i16 %7
  switch %0, ^b2(%8), [0: ^b3, 1: ^b4]
^b2(%11: i16):
  %14 = const.i32 1
  %16 = const.f16 0.0
  %60 = const.i32 32
  %61 = mul.i32 %0, %60
  %62 = load %x9[%0 wide]
  store.bf16 %62, %y7[%61 + 10] step 2
  store.bf16 %62, %y7[%61 + 11] step 2
  %54 = fcmp.lt.f16x2 %1, %1
  %57 = mul.i16 %11, %s1
  switch %s10, ^b16, [0: ^b17, 1: ^b18]
^b3:
  %19 = and.i32 %0, %n11
  store %s0, %m0[%19]
  %20 = and.i32 %s10, %n11
  %21 = load %m0[%20]
  %22 = load %x3[%0]
  %23 = fcmp.leu.f64 %22, %22
  br_if %23, ^b6, ^b5
^b4:
  %37 = and.i32 %s10, %n11
  %38 = load %m2[%37]
  br ^b2(%s1)
^b5:
  %42 = load %m1
  br ^b2(%8)
^b6:
  %49 = add.i32 %n11, %0
  %50 = load %x4[%49 wide]
  store %s10, %m1[%50]
  br ^b5
^b16:
  br ^b22(%n11)
^b17:
  ret
^b18:
  ret
^b22(%111: i32):
  %112 = icmp.gt_s.i32 %111, %n11
  br_if %112, ^b24, ^b23
^b23:
  %113 = intrinsic.i16x2 halu "HFMA2.SAT.RZ $d, $0, -|RZ.H1_H1|, -$1 ;", %1, %7
  store.i16x2 %113, %y7[%61]
  %117 = and.i32 %111, %n11
  %118 = load %x14[%117]
  %121 = local_id
  store %16, %m3[%121]
  %128 = load %x
  barrier %n11, %128
  %132 = load %m3[%n11]
  %137 = add.i32 %n11, %60
  %138 = and.i32 %137, %s10
  %139 = barrier_count %3, %n11, %138
  %153 = mask_expand.i16x2 %54
  store %153, %r24[%0]
  store %57, %r22[%0]
  store %s10, %r15[%0]
  store %132, %r23[%0]
  ret
^b24:
  %208 = mul.i32 %s10, %s10
  %210 = min_u.i32 %208, %s10
  %212 = sub.i32 %210, %s10
  %213 = subgroup_shuffle.i32 %s10, %s10, %212, %14
  br ^b22(%14)
}
; run: halu: @guards_of_other_chunks items=17 s0=0x00000000 s1=0x0000 x2=zeros(1) x3=zeros(1) x4=zeros(2) y7=zeros(513) x9=zeros(19) s10=0x00000072 n11=0x00000000 x14=zeros(2) r15=zeros(17) r22=zeros(17) r23=zeros(17) r24=zeros(17) x=[0x00000020]
