kernel @k(%y0: out i32 align 16, %s1: i1, %r2: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = min_s.i32 %0, %0
  %2 = avg_s.i32 %1, %1
  %3 = const.i64 8154790318605132454
  %4 = split.i32 %3, 1
  %5 = narrow_sat_uu.i32 %3
  store %1, %y0[%0] step 64
  %6 = select.i1 %s1, %s1, %s1
  br_if %6, ^b4, ^b3
^b2:
  %7 = sub.i32 %2, %0
  %8 = const.i32 16
  %9 = mul.i32 %0, %8
  store %4, %r2[%9]
  store %5, %r2[%9 + 1]
  store %7, %r2[%9 + 2]
  ret
^b3:
  br ^b2
^b4:
  br ^b2
}
