kernel @k(%x0: in i8x16, %y1: out i32 align 16, %x2: in i16 align 16, %x3: in f32 align 16, %r4: out i32 align 16, %r5: out i8x4 align 16) {
^b1:
  %0 = item_id
  %1 = const.i8x4 [-88, 69, 45, 8]
  %2 = shuffle.i8x4 %1, %1, [7, 1, 6, 6]
  %3 = sub_sat_s.i8x4 %2, %2
  %4 = load.f32 %x0[%0 + 1] step 4
  %5 = fneg.f32 %4
  %6 = const.i32 16
  %7 = mul.i32 %0, %6
  store.f32 %5, %y1[%7 + 4]
  %8 = const.i32 16
  %9 = mul.i32 %0, %8
  store.i8x4 %2, %y1[%9 + 5]
  %10 = load %x2[%0 + 1]
  %11 = icmp.le_u.i16 %10, %10
  %12 = load.i32 %x3[%0 + 2]
  %13 = select.i32 %11, %0, %12
  %14 = add.i8x4 %3, %3
  %15 = fcvt_to_s.i32 %5
  %16 = const.i32 64
  %17 = mul_wide_u.i32 %0, %16
  %18 = ptr_add %y1, %17
  %19 = split.i8x4 %18, 0
  store.f32 %4, %18[9]
  %20 = const.i8x4 65
  %21 = avg_s.i8x4 %20, %20
  %22 = const.i32 16
  %23 = mul.i32 %0, %22
  store %13, %r4[%23]
  store %14, %r5[%23]
  store %15, %r4[%23 + 1]
  store %19, %r5[%23 + 1]
  store %21, %r5[%23 + 2]
  ret
}
