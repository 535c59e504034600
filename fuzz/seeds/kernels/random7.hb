kernel @k(%x0: in i8x16, %y1: inout i32 align 16, %y2: out i32 align 16, %s3: bf16x2, %s4: i16x2, %r5: out i16 align 16, %r6: out i8x16) {
^b1:
  %0 = item_id
  %1 = load %x0[2]
  %2 = icmp.le_u.i8x16 %1, %1
  %3 = all.i1x16 %2
  %4 = const.i8x16 127
  %5 = shr_s.i8x16 %1, %4
  store %0, %y1[%0] step 64
  %6 = const.i32 4
  %7 = mul.i32 %0, %6
  %8 = load.i8x16 %y2[%7 + 1] step 16
  %9 = avg_s.i8x16 %8, %8
  %10 = const.i32 3
  %11 = and.i32 %0, %10
  %12 = const.i32 3
  %13 = const.i32 0
  br ^b2(%13, %9)
^b2(%14: i32, %15: i8x16):
  %16 = icmp.lt_s.i32 %14, %12
  br_if %16, ^b3, ^b4(%15)
^b3:
  %17 = fmul.rm.bf16x2 %s3, %s3
  %18 = sad_s.i8x16 %9, %15, %14
  %19 = max_u.i16x2 %s4, %s4
  %20 = const.i32 1
  %21 = add.i32 %14, %20
  br ^b2(%21, %1)
^b4(%22: i8x16):
  br_if %3, ^b5, ^b6
^b5:
  %23 = const.i32 64
  %24 = mul.i32 %0, %23
  %25 = load.i8 %y1[%24 + 54] step 1
  %26 = sext.i16 %25
  %27 = sub.i8x16 %22, %22
  %28 = const.i32 32
  %29 = mul.i32 %0, %28
  store %26, %r5[%29]
  %30 = const.i32 4
  %31 = mul.i32 %0, %30
  store %27, %r6[%31]
  ret
^b6:
  %32 = icmp.gt_s.i8x16 %15, %5
  br ^b5
}
