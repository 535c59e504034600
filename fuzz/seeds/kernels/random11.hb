kernel @k(%s0: i16, %y1: out i32 align 16, %s2: i8x16, %r3: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = icmp.ne.i16 %s0, %s0
  br_if %1, ^b3, ^b4
^b2:
  %2 = mask_expand.i32 %1
  %3 = reduce_add_s.i8x16 %s2
  %4 = const.i32 64
  %5 = mul_wide_u.i32 %0, %4
  %6 = ptr_add %y1, %5
  %7 = split.i32 %6, 0
  %8 = item_id
  %9 = const.i32 16
  %10 = mul.i32 %0, %9
  store %2, %r3[%10]
  store %3, %r3[%10 + 1]
  store %7, %r3[%10 + 2]
  store %8, %r3[%10 + 3]
  ret
^b3:
  %11 = const.i32 -2147483648
  %12 = shl.i32 %0, %11
  %13 = const.i32 32
  %14 = mul.i32 %0, %13
  store.i16 %s0, %y1[%14 + 23] step 2
  %15 = avg_u.i16 %s0, %s0
  br ^b2
^b4:
  %16 = not.i32 %0
  %17 = const.i8x4 [-1, 38, 2, 4]
  %18 = bitcast.i32 %17
  br ^b2
}
