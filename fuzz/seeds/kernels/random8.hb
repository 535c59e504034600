kernel @k(%y0: out i32 align 16, %s1: bf16, %r2: out i32 align 16, %r3: out bf16x2 align 16) {
^b1:
  %0 = item_id
  %1 = icmp.lt_s.i32 %0, %0
  %2 = mask_expand.i32 %1
  %3 = item_count
  %4 = const.i32 64
  %5 = mul_wide_u.i32 %0, %4
  %6 = ptr_add %y0, %5
  %7 = split.bf16x2 %6, 1
  %8 = select.i1 %1, %1, %1
  %9 = item_count
  %10 = const.i32 16
  %11 = mul.i32 %0, %10
  store %3, %y0[%11 + 6]
  %12 = const.i32 16
  %13 = mul.i32 %0, %12
  store %0, %y0[%13 + 4]
  %14 = not.i1 %8
  %15 = splat.bf16x2 %s1
  %16 = const.i32 16
  %17 = mul.i32 %0, %16
  store %2, %r2[%17]
  store %7, %r3[%17]
  store %9, %r2[%17 + 1]
  %18 = const.i32 1
  %19 = const.i32 0
  %20 = select.i32 %14, %18, %19
  store %20, %r2[%17 + 2]
  store %15, %r3[%17 + 1]
  ret
}
