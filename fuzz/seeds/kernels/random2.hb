kernel @k(%s0: i8x4, %x1: in i8 align 16, %x2: in bf16x2 align 16, %x3: in i16 align 16, %r4: out i32 align 16, %r5: out i16x2 align 16, %r6: out i16 align 16, %r7: out i8x4 align 16) {
^b1:
  %0 = item_id
  %1 = const.i8x4 2
  %2 = icmp.ge_u.i8x4 %1, %1
  %3 = any.i1x4 %2
  %4 = avg_s.i32 %0, %0
  %5 = reduce_add_s.i8x4 %s0
  %6 = load %x1[%0 + 3]
  %7 = insert.i8x4 %s0, %6, 3
  %8 = const.i32 3
  %9 = and.i32 %4, %8
  %10 = load %x2[%9 + 3]
  %11 = fcmp.lt.bf16x2 %10, %10
  %12 = shuffle.i1x2 %11, %11, [1, 2]
  %13 = load %x3[%0 + 2]
  %14 = avg_s.i16 %13, %13
  %15 = or.i8x4 %7, %7
  %16 = const.i32 1
  %17 = const.i32 0
  %18 = select.i32 %3, %16, %17
  %19 = const.i32 16
  %20 = mul.i32 %0, %19
  store %18, %r4[%20]
  store %5, %r4[%20 + 1]
  %21 = mask_expand.i16x2 %12
  store %21, %r5[%20]
  %22 = const.i32 32
  %23 = mul.i32 %0, %22
  store %14, %r6[%23]
  store %15, %r7[%20]
  ret
}
