kernel @k(%y0: inout i32 align 16, %r1: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = const.i16x2 [22337, 256]
  %2 = add_sat_u.i16x2 %1, %1
  store.i16x2 %2, %y0[%0] step 64
  %3 = max_s.i16x2 %2, %2
  %4 = sad_s.i16x2 %2, %3, %0
  %5 = const.i16x2 128
  %6 = shr_s.i16x2 %3, %5
  store %4, %y0[%0] step 64
  %7 = sad_u.i16x2 %6, %6, %4
  %8 = const.i32 16
  %9 = mul.i32 %0, %8
  store %7, %r1[%9]
  ret
}
