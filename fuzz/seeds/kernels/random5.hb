kernel @k(%y0: inout i32 align 16, %x1: in i64 align 16, %x2: in i32 align 16, %s3: i32, %s4: f16x2, %r5: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = shr_s.i32 %0, %0
  %2 = xor.i32 %1, %1
  %3 = const.i32 16
  %4 = mul.i32 %0, %3
  store %0, %y0[%4 + 7]
  %5 = const.i32 3
  %6 = and.i32 %1, %5
  switch %6, ^b2(%1, %1, %2), [0: ^b3, 1: ^b4]
^b2(%7: i32, %8: i32, %9: i32):
  %10 = add_sat_s.i32 %9, %8
  %11 = const.i32 16
  %12 = mul.i32 %0, %11
  %13 = load.f32 %y0[%12 + 14]
  %14 = fcvt_to_u.i32 %13
  %15 = const.i8 -1
  %16 = icmp.gt_u.i8 %15, %15
  br_if %16, ^b5(%14, %9, %9), ^b6
^b3:
  %17 = const.i32 3
  %18 = and.i32 %0, %17
  %19 = load %x2[%18 + 1]
  %20 = const.i32 3
  %21 = and.i32 %19, %20
  %22 = load %x1[%21 + 1]
  %23 = split.i32 %22, 1
  br ^b2(%2, %s3, %19)
^b4:
  %24 = fsub.f16x2 %s4, %s4
  br ^b2(%1, %1, %2)
^b5(%25: i32, %26: i32, %27: i32):
  %28 = sub_sat_u.i32 %27, %10
  %29 = const.i32 16
  %30 = mul.i32 %0, %29
  store %25, %r5[%30]
  store %26, %r5[%30 + 1]
  store %28, %r5[%30 + 2]
  ret
^b6:
  br ^b5(%7, %9, %8)
}
