kernel @k(%y0: out i32 align 16, %s1: i16x2, %s2: i1, %r3: out i32 align 16, %r4: out i16x2 align 16) {
^b1:
  %0 = item_id
  %1 = const.i32 16
  %2 = mul.i32 %0, %1
  store %0, %y0[%2 + 3]
  %3 = const.i32 64
  %4 = mul_wide_u.i32 %0, %3
  %5 = ptr_add %y0, %4
  %6 = split.i32 %5, 0
  %7 = round_shr_s.i32 %0, %6
  %8 = add.i16x2 %s1, %s1
  br_if %s2, ^b4, ^b3
^b2(%9: i32, %10: i1, %11: i16x2, %12: i32):
  %13 = const.f32 5.729406e24
  %14 = fcvt_to_u.i32 %13
  br_if %10, ^b5(%11, %9), ^b6
^b3:
  %15 = const.i32 31
  br ^b2(%15, %s2, %8, %7)
^b4:
  br ^b2(%6, %s2, %8, %0)
^b5(%16: i16x2, %17: i32):
  %18 = item_id
  %19 = const.i32 16
  %20 = mul.i32 %0, %19
  store %12, %r3[%20]
  store %16, %r4[%20]
  store %17, %r3[%20 + 1]
  store %18, %r3[%20 + 2]
  ret
^b6:
  br ^b5(%s1, %14)
}
