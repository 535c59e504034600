kernel @k(%s0: i1, %s1: i1, %s2: bf16x2, %x3: in i8 align 16, %y4: out i32 align 16, %s5: i16, %s6: bf16, %r7: out i32 align 16) {
^b1:
  %0 = item_id
  %1 = icmp.ge_u.i32 %0, %0
  br_if %s0, ^b4, ^b3
^b2(%2: i1, %3: i1, %4: i1, %5: i1):
  %6 = const.i32 3
  %7 = and.i32 %0, %6
  %8 = const.i32 4
  %9 = const.i32 0
  %10 = const.i16 32767
  %11 = icmp.ge_u.i16 %10, %10
  br ^b5(%9, %3, %11, %4)
^b3:
  %12 = neg.i32 %0
  %13 = fset.le.bf16x2 %s2, %s2
  %14 = load %x3[%0 + 1]
  %15 = icmp.gt_u.i8 %14, %14
  br ^b2(%s1, %s1, %s1, %15)
^b4:
  %16 = const.i32 1554995707
  %17 = shr_u.i32 %0, %16
  store %17, %y4[%0] step 64
  %18 = item_id
  %19 = const.f16 -6.104e-5
  %20 = fcmp.neu.ftz.f16 %19, %19
  br ^b2(%s1, %1, %20, %s1)
^b5(%21: i32, %22: i1, %23: i1, %24: i1):
  %25 = icmp.lt_s.i32 %21, %8
  br_if %25, ^b6, ^b7(%22, %23, %24)
^b6:
  store %0, %y4[%0] step 64
  %26 = splat.i16x2 %s5
  %27 = const.bf16 -9e-41
  %28 = fcmp.eq.bf16 %27, %27
  %29 = select.i1 %22, %22, %28
  %30 = const.i32 1
  %31 = add.i32 %21, %30
  %32 = icmp.ge_s.i16 %s5, %s5
  %33 = fcmp.gtu.bf16 %s6, %s6
  br ^b5(%31, %32, %33, %32)
^b7(%34: i1, %35: i1, %36: i1):
  %37 = const.i32 32
  %38 = mul.i32 %0, %37
  store.i16 %10, %y4[%38 + 4] step 2
  %39 = select.i1 %3, %24, %24
  %40 = item_count
  %41 = const.i32 1
  %42 = const.i32 0
  %43 = select.i32 %2, %41, %42
  %44 = const.i32 16
  %45 = mul.i32 %0, %44
  store %43, %r7[%45]
  %46 = const.i32 1
  %47 = const.i32 0
  %48 = select.i32 %5, %46, %47
  store %48, %r7[%45 + 1]
  %49 = const.i32 1
  %50 = const.i32 0
  %51 = select.i32 %34, %49, %50
  store %51, %r7[%45 + 2]
  %52 = const.i32 1
  %53 = const.i32 0
  %54 = select.i32 %35, %52, %53
  store %54, %r7[%45 + 3]
  %55 = const.i32 1
  %56 = const.i32 0
  %57 = select.i32 %36, %55, %56
  store %57, %r7[%45 + 4]
  %58 = const.i32 1
  %59 = const.i32 0
  %60 = select.i32 %39, %58, %59
  store %60, %r7[%45 + 5]
  store %40, %r7[%45 + 6]
  ret
}
