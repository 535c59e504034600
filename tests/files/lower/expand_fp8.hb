; test: lower without=fcvt.e4m3,fcvt.e5m2
; Conversions of FP8 by bits, halves and f32.
kernel @to_half(%x: in e4m3, %y: in e5m2, %p: out f16, %q: out f16) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = fcvt.f16 %a
  %s = fcvt.f16 %b
  store %r, %p[%i]
  store %s, %q[%i]
  ret
}
;= kernel @to_half(%x: in e4m3, %y: in e5m2, %p: out f16, %q: out f16) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = bitcast.i8 %a
;=   %1 = zext.i32 %0
;=   %2 = const.i32 127
;=   %3 = and.i32 %1, %2
;=   %4 = const.i32 128
;=   %5 = and.i32 %1, %4
;=   %6 = const.i32 8
;=   %7 = shl.i32 %5, %6
;=   %8 = const.i32 7
;=   %9 = shl.i32 %3, %8
;=   %10 = or.i32 %7, %9
;=   %11 = trunc.i16 %10
;=   %12 = bitcast.f16 %11
;=   %13 = const.f16 256.0
;=   %14 = fmul.f16 %12, %13
;=   %15 = icmp.eq.i32 %3, %2
;=   %16 = const.f16 nan
;=   %r = select.f16 %15, %16, %14
;=   %17 = bitcast.i8 %b
;=   %18 = zext.i32 %17
;=   %19 = shl.i32 %18, %6
;=   %20 = trunc.i16 %19
;=   %21 = bitcast.f16 %20
;=   %22 = const.f16 1.0
;=   %s = fmul.f16 %21, %22
;=   store %r, %p[%i]
;=   store %s, %q[%i]
;=   ret
;= }

kernel @to_single(%x: in e4m3, %p: out f32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt.f32 %a
  store %r, %p[%i]
  ret
}
;= kernel @to_single(%x: in e4m3, %p: out f32) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i8 %a
;=   %1 = zext.i32 %0
;=   %2 = const.i32 127
;=   %3 = and.i32 %1, %2
;=   %4 = const.i32 128
;=   %5 = and.i32 %1, %4
;=   %6 = const.i32 8
;=   %7 = shl.i32 %5, %6
;=   %8 = const.i32 7
;=   %9 = shl.i32 %3, %8
;=   %10 = or.i32 %7, %9
;=   %11 = trunc.i16 %10
;=   %12 = bitcast.f16 %11
;=   %13 = const.f16 256.0
;=   %14 = fmul.f16 %12, %13
;=   %15 = icmp.eq.i32 %3, %2
;=   %16 = const.f16 nan
;=   %17 = select.f16 %15, %16, %14
;=   %r = fcvt.f32 %17
;=   store %r, %p[%i]
;=   ret
;= }

kernel @from_single(%x: in f32, %p: out e4m3, %q: out e5m2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt.e4m3 %a
  %s = fcvt.e5m2 %a
  store %r, %p[%i]
  store %s, %q[%i]
  ret
}
;= kernel @from_single(%x: in f32, %p: out e4m3, %q: out e5m2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = const.f32 448.0
;=   %1 = const.i32 1015021568
;=   %2 = const.i32 20
;=   %3 = const.i32 524287
;=   %4 = const.i32 -960
;=   %5 = bitcast.i32 %a
;=   %6 = const.i32 2147483647
;=   %7 = and.i32 %5, %6
;=   %8 = bitcast.f32 %7
;=   %9 = fmin.f32 %8, %0
;=   %10 = bitcast.i32 %9
;=   %11 = shr_u.i32 %10, %2
;=   %12 = const.i32 1
;=   %13 = and.i32 %11, %12
;=   %14 = add.i32 %10, %13
;=   %15 = add.i32 %14, %3
;=   %16 = shr_u.i32 %15, %2
;=   %17 = const.f32 16384.0
;=   %18 = fadd.f32 %9, %17
;=   %19 = bitcast.i32 %18
;=   %20 = const.i32 1182793728
;=   %21 = sub.i32 %19, %20
;=   %22 = icmp.lt_u.i32 %10, %1
;=   %23 = add.i32 %16, %4
;=   %24 = select.i32 %22, %21, %23
;=   %25 = const.i32 24
;=   %26 = shr_u.i32 %5, %25
;=   %27 = const.i32 128
;=   %28 = and.i32 %26, %27
;=   %29 = or.i32 %24, %28
;=   %30 = const.i32 2139095040
;=   %31 = icmp.gt_u.i32 %7, %30
;=   %32 = const.i32 127
;=   %33 = select.i32 %31, %32, %29
;=   %34 = trunc.i8 %33
;=   %r = bitcast.e4m3 %34
;=   %35 = const.f32 57344.0
;=   %36 = const.i32 947912704
;=   %37 = const.i32 21
;=   %38 = const.i32 1048575
;=   %39 = const.i32 -448
;=   %40 = fmin.f32 %8, %35
;=   %41 = bitcast.i32 %40
;=   %42 = shr_u.i32 %41, %37
;=   %43 = and.i32 %42, %12
;=   %44 = add.i32 %41, %43
;=   %45 = add.i32 %44, %38
;=   %46 = shr_u.i32 %45, %37
;=   %47 = const.f32 128.0
;=   %48 = fadd.f32 %40, %47
;=   %49 = bitcast.i32 %48
;=   %50 = const.i32 1124073472
;=   %51 = sub.i32 %49, %50
;=   %52 = icmp.lt_u.i32 %41, %36
;=   %53 = add.i32 %46, %39
;=   %54 = select.i32 %52, %51, %53
;=   %55 = or.i32 %54, %28
;=   %56 = select.i32 %31, %32, %55
;=   %57 = trunc.i8 %56
;=   %s = bitcast.e5m2 %57
;=   store %r, %p[%i]
;=   store %s, %q[%i]
;=   ret
;= }

kernel @from_half(%x: in f16, %p: out e4m3) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = fcvt.e4m3 %a
  store %r, %p[%i]
  ret
}
;= kernel @from_half(%x: in f16, %p: out e4m3) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = fcvt.f32 %a
;=   %1 = const.f32 448.0
;=   %2 = const.i32 1015021568
;=   %3 = const.i32 20
;=   %4 = const.i32 524287
;=   %5 = const.i32 -960
;=   %6 = bitcast.i32 %0
;=   %7 = const.i32 2147483647
;=   %8 = and.i32 %6, %7
;=   %9 = bitcast.f32 %8
;=   %10 = fmin.f32 %9, %1
;=   %11 = bitcast.i32 %10
;=   %12 = shr_u.i32 %11, %3
;=   %13 = const.i32 1
;=   %14 = and.i32 %12, %13
;=   %15 = add.i32 %11, %14
;=   %16 = add.i32 %15, %4
;=   %17 = shr_u.i32 %16, %3
;=   %18 = const.f32 16384.0
;=   %19 = fadd.f32 %10, %18
;=   %20 = bitcast.i32 %19
;=   %21 = const.i32 1182793728
;=   %22 = sub.i32 %20, %21
;=   %23 = icmp.lt_u.i32 %11, %2
;=   %24 = add.i32 %17, %5
;=   %25 = select.i32 %23, %22, %24
;=   %26 = const.i32 24
;=   %27 = shr_u.i32 %6, %26
;=   %28 = const.i32 128
;=   %29 = and.i32 %27, %28
;=   %30 = or.i32 %25, %29
;=   %31 = const.i32 2139095040
;=   %32 = icmp.gt_u.i32 %8, %31
;=   %33 = const.i32 127
;=   %34 = select.i32 %32, %33, %30
;=   %35 = trunc.i8 %34
;=   %r = bitcast.e4m3 %35
;=   store %r, %p[%i]
;=   ret
;= }

; test: lower without=const.e5m2
kernel @constant(%x: in i32, %p: out e5m2) {
^entry:
  %i = item_id
  %k = const.e5m2 1.5
  store %k, %p[%i]
  ret
}
;= kernel @constant(%x: in i32, %p: out e5m2) {
;= ^entry:
;=   %i = item_id
;=   %0 = const.i8 62
;=   %k = bitcast.e5m2 %0
;=   store %k, %p[%i]
;=   ret
;= }
