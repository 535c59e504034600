; Items that part at a switch and meet again in a block with stores, of which the last is alone among its four.
kernel @the_last_is_alone(%y1: out i32 align 16, %s3: i8, %r4: out i32 align 16, %x: in i32, %x1: in i32) {
^b1:
  %0 = item_id
  %1 = const.i32 0
  %5 = load %x1[%0]
  %7 = load %x[%0]
  switch %7, ^b2(%1), [0: ^b3, 1: ^b4]
^b2(%14: i32):
  %15 = not.i32 %5
  %16 = avg_u.i32 %0, %15
  store %0, %y1[%0]
  %17 = and.i32 %14, %5
  %19 = icmp.ne.i8 %s3, %s3
  br_if %19, ^b6, ^b7
^b3:
  br ^b2(%5)
^b4:
  ret
^b6:
  %39 = xor.i32 %15, %16
  %40 = xor.i32 %39, %17
  store %40, %r4[%0]
  ret
^b7:
  br ^b6
}
; run: halu, vp1, ptx: @the_last_is_alone items=9 y1=zeros(9) s3=0x00 r4=zeros(9) x=[0x00000000, 0x00000000, 0x00000002, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000] x1=zeros(9)
