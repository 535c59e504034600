; Kernel 241 of seed 5: @random on halu (interp): r6[0], written by item 0, expected 0x00000001 by ir, found 0x00000000; 1 of 1 elements differ
kernel @random(%s3: i32, %r6: out i32 align 16) {
^b1:
  %1 = const.i32 2
  br ^b2(%s3, %s3, %s3)
^b2(%4: i32, %6: i32, %7: i32):
  %9 = icmp.lt_u.i32 %4, %1
  br_if %9, ^b4, ^b3
^b3:
  store %6, %r6
  ret
^b4:
  %30 = const.i32 1
  %31 = add.i32 %4, %30
  br ^b2(%31, %7, %30)
}
; run: halu, vp1: @random items=1 s3=0x00000000 r6=zeros(1)
