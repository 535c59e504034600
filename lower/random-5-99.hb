; Kernel 99 of seed 5: @random on halu (interp): y2[1], written by item 1, expected 0xffffffff by ir, found 0x00000000; 1 of 2 elements differ
kernel @random(%s0: i32, %y2: inout i32 align 16) {
^b1:
  %21 = const.i32 0
  %0 = item_id
  br ^b4(%21, %21, %21)
^b4(%22: i32, %23: i32, %25: i32):
  %28 = sub_sat_s.i32 %21, %0
  %29 = const.i32 1
  %30 = add.i32 %22, %29
  %31 = icmp.lt_u.i32 %30, %s0
  br_if %31, ^b4(%30, %25, %28), ^b5
^b5:
  store %23, %y2[%0]
  ret
}
; run: halu, vp1: @random items=2 s0=0x00000007 y2=zeros(2)
