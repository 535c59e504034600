kernel @k(%x0: in i8x4 align 16, %x1: in i64 align 16, %y2: out i32 align 16, %y3: inout i32 align 16, %r4: out i8x4 align 16, %r5: out i64 align 16, %r6: out f16 align 16, %r7: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = const.i32 3
  %2 = and.i32 %0, %1
  %3 = load %x0[%2 + 1]
  %4 = mul.i8x4 %3, %3
  %5 = min_s.i8x4 %3, %3
  %6 = const.i8x4 0
  %7 = round_shr_u.i8x4 %5, %6
  %8 = load %x1 align 4
  %9 = icmp.gt_s.i64 %8, %8
  %10 = const.f16 0.9985
  %11 = select.f16 %9, %10, %10
  %12 = const.i8x4 [3, 95, -128, -127]
  br_if %9, ^b4, ^b3
^b2(%13: i8x4, %14: i8x4, %15: f16, %16: i64):
  %17 = const.i32 3
  %18 = and.i32 %0, %17
  %19 = const.i64 -1335202403275376889
  switch %18, ^b5(%16, %15, %19), [0: ^b6]
^b3:
  br ^b2(%7, %7, %10, %8)
^b4:
  store.f16 %11, %y2[%0] step 64
  ret
^b5(%20: i64, %21: f16, %22: i64):
  store.i8x4 %14, %y2[%0] step 64
  %23 = const.i32 16
  %24 = mul.i32 %0, %23
  store %0, %y3[%24 + 4]
  %25 = sad_u.i8x4 %12, %4, %0
  %26 = const.i32 16
  %27 = mul.i32 %0, %26
  store %13, %r4[%27]
  %28 = const.i32 8
  %29 = mul.i32 %0, %28
  store %20, %r5[%29]
  %30 = const.i32 32
  %31 = mul.i32 %0, %30
  store %21, %r6[%31]
  store %22, %r5[%29 + 1]
  store %25, %r7[%27]
  ret
^b6:
  %32 = mul.i8x4 %12, %12
  br ^b5(%19, %11, %16)
}
