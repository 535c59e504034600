; test: isel ptx
; Every edge hands on all arguments, so that a parameter has a register though nothing reads it.
kernel @unread_parameter(%s0: i8, %y1: out i32 align 16, %s2: i16, %s3: i32, %y4: inout i32 align 16, %n5: i32, %x6: in i8 align 16, %r7: out i32 align 16, %r8: out i8 align 16, %r9: out i8x16) {
^b1:
  %0 = item_id
  %1 = const.i32 786801345
  %2 = const.i32 -1908841916
  %3 = absdiff_s.i32 %1, %2
  %4 = icmp.ne.i8 %s0, %s0
  %5 = mask_expand.i32 %4
  %6 = const.i32 16
  %7 = mul.i32 %0, %6
  store %0, %y1[%7] ; check: st.global.b32
  %8 = avg_s.i32 %5, %3
  %9 = const.i32 0
  %10 = shl.i32 %8, %9
  %11 = narrow_sat_uu.i8 %s2
  %12 = shr_s.i32 %5, %3
  %13 = item_count
  %14 = const.i32 3
  %15 = and.i32 %1, %14
  switch %15, ^b2(%12, %13, %3, %11), [0: ^b3, 1: ^b4, 2: ^b5]
^b2(%16: i32, %17: i32, %18: i32, %19: i8):
  %20 = const.i32 0
  br ^b6(%20, %17, %18, %19, %4)
^b3:
  br ^b2(%12, %12, %2, %11)
^b4:
  br ^b2(%12, %13, %s3, %11)
^b5:
  store.i16 %s2, %y4[%0] step 2
  ret
^b6(%21: i32, %22: i32, %23: i32, %24: i8, %25: i1):
  %26 = icmp.gt_u.i8 %19, %11
  %27 = const.i32 1
  %28 = add.i32 %21, %27
  %29 = icmp.lt_u.i32 %28, %n5
  %30 = and.i1 %26, %29
  br_if %30, ^b6(%28, %17, %21, %24, %26), ^b8
^b7(%31: i32, %32: i32, %33: i8, %34: i1):
  %35 = const.i8x16 [1, -49, -3, 1, 4, 6, -104, -126, 4, 45, -127, -102, 1, 24, 24, -52]
  %36 = icmp.lt_s.i8x16 %35, %35
  %37 = mask_expand.i8x16 %36
  %38 = abs.i32 %17
  %39 = const.i32 1
  %40 = const.i32 0
  %41 = select.i32 %34, %39, %40
  %42 = xor.i32 %10, %16
  %43 = xor.i32 %42, %31
  %44 = xor.i32 %43, %32
  %45 = xor.i32 %44, %41
  %46 = xor.i32 %45, %38
  %47 = const.i32 16
  %48 = mul.i32 %0, %47
  store %46, %r7[%48]
  store %33, %r8[%0]
  store %37, %r9[%0]
  ret
^b8:
  %49 = const.i32 312185093
  br_if %25, ^b7(%23, %49, %19, %26), ^b9
^b9:
  %50 = const.i32 4
  %51 = mul.i32 %0, %50
  %52 = add.i32 %51, %21
  %53 = load.i8x4 %x6[%52 + 3] step 4
  %54 = reduce_min_s.i8x4 %53
  %55 = const.i32 1
  %56 = add.i32 %21, %55
  %57 = icmp.lt_u.i32 %56, %n5
  br_if %57, ^b6(%56, %18, %21, %11, %26), ^b7(%22, %22, %24, %26)
}
