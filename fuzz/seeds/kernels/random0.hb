kernel @k(%x0: in i16 align 16, %y1: out i32 align 16, %s2: i32, %x3: in i32 align 16, %s4: i32, %r5: out i32 align 16, %r6: out i16 align 16) {
^b1:
  %0 = item_id
  %1 = load %x0[%0 + 2]
  %2 = icmp.lt_s.i16 %1, %1
  %3 = const.f32 1e-45
  %4 = fcmp.le.f32 %3, %3
  br_if %2, ^b3, ^b4
^b2(%5: i1, %6: i16, %7: i1, %8: i32):
  %9 = xor.i1 %5, %7
  %10 = const.i32 3
  %11 = and.i32 %8, %10
  %12 = const.i32 1396605100
  %13 = icmp.le_s.i32 %0, %12
  switch %11, ^b5(%13, %9, %12, %6), [0: ^b6]
^b3:
  %14 = absdiff_u.i16 %1, %1
  %15 = const.i16x2 [-4447, 16974]
  %16 = bitcast.i32 %15
  br ^b2(%4, %14, %2, %16)
^b4:
  %17 = const.i16 -22080
  %18 = max_u.i16 %17, %17
  store.i16 %17, %y1[%0] step 64
  %19 = or.i1 %4, %2
  %20 = icmp.ge_s.i32 %0, %0
  br ^b2(%4, %18, %20, %0)
^b5(%21: i1, %22: i1, %23: i32, %24: i16):
  %25 = const.i32 0
  %26 = shr_s.i32 %23, %25
  %27 = const.i32 3
  %28 = and.i32 %s2, %27
  %29 = load %x3[%0 + 2]
  switch %28, ^b7(%29, %s4), [0: ^b8, 1: ^b9, 2: ^b10]
^b6:
  store %12, %y1[%0] step 64
  %30 = load %x0[%0]
  %31 = xor.i16 %6, %30
  %32 = add.i32 %12, %8
  br ^b5(%7, %7, %12, %30)
^b7(%33: i32, %34: i32):
  %35 = or.i32 %29, %23
  %36 = const.i32 1
  %37 = const.i32 0
  %38 = select.i32 %21, %36, %37
  %39 = const.i32 16
  %40 = mul.i32 %0, %39
  store %38, %r5[%40]
  %41 = const.i32 1
  %42 = const.i32 0
  %43 = select.i32 %22, %41, %42
  store %43, %r5[%40 + 1]
  %44 = const.i32 32
  %45 = mul.i32 %0, %44
  store %24, %r6[%45]
  store %26, %r5[%40 + 2]
  store %33, %r5[%40 + 3]
  store %34, %r5[%40 + 4]
  store %35, %r5[%40 + 5]
  ret
^b8:
  br ^b7(%s4, %23)
^b9:
  br ^b7(%29, %s2)
^b10:
  store.f32 %3, %y1[%0] step 64
  ret
}
