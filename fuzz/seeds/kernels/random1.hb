kernel @k(%s0: i1, %s1: f32, %y2: out i32 align 16, %s3: i32, %r4: out f32 align 16, %r5: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = const.i32 9
  %2 = round_shr_u.i32 %0, %1
  %3 = mul_wide_s.i32 %0, %2
  br_if %s0, ^b3, ^b4
^b2(%4: i32):
  %5 = bitcast.i32 %s1
  %6 = split.f32 %3, 0
  %7 = const.i32 8
  %8 = mul.i32 %0, %7
  store.i64 %3, %y2[%8 + 7] step 8
  %9 = const.i32 3
  %10 = and.i32 %5, %9
  switch %10, ^b5(%s3), [0: ^b6, 1: ^b7]
^b3:
  %11 = const.i8x16 -113
  %12 = split.i64 %11, 0
  br ^b2(%2)
^b4:
  %13 = neg.i32 %2
  br ^b2(%0)
^b5(%14: i32):
  %15 = const.i32 3
  %16 = and.i32 %s3, %15
  %17 = const.i32 0
  br ^b8(%17)
^b6:
  br ^b5(%s3)
^b7:
  %18 = const.i32 16
  %19 = mul.i32 %0, %18
  store %0, %y2[%19 + 5]
  ret
^b8(%20: i32):
  %21 = icmp.lt_s.i32 %20, %16
  br_if %21, ^b9, ^b10
^b9:
  %22 = const.i32 1
  %23 = add.i32 %20, %22
  br ^b8(%23)
^b10:
  %24 = add_sat_u.i32 %4, %4
  %25 = const.i32 16
  %26 = mul.i32 %0, %25
  store %6, %r4[%26]
  store %14, %r5[%26]
  store %24, %r5[%26 + 1]
  ret
}
