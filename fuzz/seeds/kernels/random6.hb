kernel @k(%s0: f32, %y1: inout i32 align 16, %r2: out f32 align 16, %r3: out i32 align 16, %r4: out i64 align 16) {
^b1:
  %0 = item_id
  %1 = icmp.ge_s.i32 %0, %0
  %2 = const.i64 2
  %3 = narrow_sat_s.i32 %2
  %4 = fcvt_to_u.i32 %s0
  %5 = const.i32 16
  %6 = mul.i32 %0, %5
  store.f32 %s0, %y1[%6 + 2]
  %7 = fcvt_from_s.f32 %4
  br_if %1, ^b4, ^b3
^b2(%8: i64, %9: f32, %10: i32):
  %11 = const.i32 16
  %12 = mul.i32 %0, %11
  store.f32 %7, %y1[%12 + 14]
  %13 = const.f16 0.9995
  %14 = concat.f32 %13, %13
  %15 = max_u.i64 %8, %8
  %16 = const.i32 16
  %17 = mul.i32 %0, %16
  store %9, %r2[%17]
  store %10, %r3[%17]
  store %14, %r2[%17 + 1]
  %18 = const.i32 8
  %19 = mul.i32 %0, %18
  store %15, %r4[%19]
  ret
^b3:
  %20 = item_count
  br ^b2(%2, %7, %4)
^b4:
  %21 = fdiv.f32 %7, %7
  br ^b2(%2, %21, %3)
}
