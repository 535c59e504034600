kernel @k(%y0: out i32 align 16, %s1: f16, %y2: out i32 align 16, %x3: in i64 align 16, %r4: out i32 align 16, %r5: out i64 align 16) {
^b1:
  %0 = item_id
  store %0, %y0[%0] step 64
  %1 = const.i64 9223372036854775807
  %2 = narrow_sat_u.i32 %1
  %3 = fcvt_to_s.i32 %s1
  store %2, %y2[%0] step 64
  %4 = const.i32 16
  %5 = mul.i32 %0, %4
  store %0, %y2[%5 + 15]
  %6 = const.bf16x2 [1057000000.0, -4.64e27]
  %7 = bitcast.i32 %6
  %8 = round_shr_s.i32 %3, %7
  %9 = load %x3[%0]
  %10 = abs.i64 %9
  %11 = or.i32 %7, %8
  %12 = add.i64 %10, %10
  %13 = const.i32 -1
  %14 = shr_s.i32 %7, %13
  %15 = const.i32 16
  %16 = mul.i32 %0, %15
  store %11, %r4[%16]
  %17 = const.i32 8
  %18 = mul.i32 %0, %17
  store %12, %r5[%18]
  store %14, %r4[%16 + 1]
  ret
}
