kernel @k(%x0: in bf16x2 align 16, %r1: out i32 align 16, %r2: out i16x2 align 16) {
^b1:
  %0 = item_id
  %1 = icmp.le_s.i32 %0, %0
  %2 = round_shr_s.i32 %0, %0
  %3 = add_sat_u.i32 %2, %2
  %4 = load %x0[%0]
  %5 = fcmp.ne.bf16x2 %4, %4
  %6 = neg.i32 %2
  %7 = icmp.gt_s.i32 %6, %6
  %8 = select.i32 %7, %3, %3
  %9 = mask_expand.i32 %7
  %10 = const.i32 1
  %11 = const.i32 0
  %12 = select.i32 %1, %10, %11
  %13 = const.i32 16
  %14 = mul.i32 %0, %13
  store %12, %r1[%14]
  %15 = mask_expand.i16x2 %5
  store %15, %r2[%14]
  store %8, %r1[%14 + 1]
  store %9, %r1[%14 + 2]
  ret
}
