; test: lower passes=legalise,gvn,dce without=add.i16x2,avg_u.i16x2,concat.i16x2,insert.i16x2,splat.i16x2,extract.i16x2,split.i16
; What is done by lanes goes on by lanes: the word is put together for the store alone.
kernel @two_lanes(%x: in i16x2, %y: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %x[%i + 1]
  %s = add.i16x2 %a, %b
  %m = avg_u.i16x2 %s, %b
  store %m, %y[%i]
  ret
}
;= kernel @two_lanes(%x: in i16x2, %y: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %x[%i + 1]
;=   %0 = bitcast.i32 %a
;=   %1 = trunc.i16 %0
;=   %2 = const.i32 16
;=   %3 = shr_u.i32 %0, %2
;=   %4 = trunc.i16 %3
;=   %5 = bitcast.i32 %b
;=   %6 = trunc.i16 %5
;=   %7 = shr_u.i32 %5, %2
;=   %8 = trunc.i16 %7
;=   %9 = add.i16 %1, %6
;=   %10 = add.i16 %4, %8
;=   %11 = zext.i32 %9
;=   %12 = zext.i32 %10
;=   %13 = shl.i32 %12, %2
;=   %14 = or.i32 %11, %13
;=   %s = bitcast.i16x2 %14
;=   %15 = or.i16x2 %s, %b
;=   %16 = xor.i16x2 %s, %b
;=   %17 = const.i16x2 1
;=   %18 = shr_u.i16x2 %16, %17
;=   %m = sub.i16x2 %15, %18
;=   store %m, %y[%i]
;=   ret
;= }

; test: lower passes=legalise,gvn,dce without=load.f16x2,store.f16x2
; A word of memory, of the same bits.
kernel @word(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = fneg.f16x2 %a
  store %b, %y[%i]
  ret
}
;= kernel @word(%x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %0 = load.i32 %x[%i]
;=   %a = bitcast.f16x2 %0
;=   %b = fneg.f16x2 %a
;=   %1 = bitcast.i32 %b
;=   store.i32 %1, %y[%i]
;=   ret
;= }

; test: lower passes=legalise,gvn,dce without=icmp.i16x2,mask_expand.i16x2,select.i16x2,and.i1x2
; A mask by its lanes; nobody needs it whole.
kernel @mask(%x: in i16x2, %y: in i16x2, %z: out i16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = icmp.lt_s.i16x2 %a, %b
  %r = select.i16x2 %m, %a, %b
  store %r, %z[%i]
  ret
}
;= kernel @mask(%x: in i16x2, %y: in i16x2, %z: out i16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %b = load %y[%i]
;=   %0 = extract.i16x2 %a, 0
;=   %1 = extract.i16x2 %a, 1
;=   %2 = extract.i16x2 %b, 0
;=   %3 = extract.i16x2 %b, 1
;=   %4 = icmp.lt_s.i16 %0, %2
;=   %5 = icmp.lt_s.i16 %1, %3
;=   %6 = select.i16 %4, %0, %2
;=   %7 = select.i16 %5, %1, %3
;=   %r = concat.i16x2 %6, %7
;=   store %r, %z[%i]
;=   ret
;= }

; test: lower passes=legalise,gvn,dce without=add.i8x4,concat.i8x4,extract.i8x4,split.i8
; Four bytes, put together in a word.
kernel @four_lanes(%x: in i8x4, %y: out i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %s = add.i8x4 %a, %a
  store %s, %y[%i]
  ret
}
;= kernel @four_lanes(%x: in i8x4, %y: out i8x4) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i32 %a
;=   %1 = trunc.i8 %0
;=   %2 = const.i32 8
;=   %3 = shr_u.i32 %0, %2
;=   %4 = trunc.i8 %3
;=   %5 = const.i32 16
;=   %6 = shr_u.i32 %0, %5
;=   %7 = trunc.i8 %6
;=   %8 = const.i32 24
;=   %9 = shr_u.i32 %0, %8
;=   %10 = trunc.i8 %9
;=   %11 = add.i8 %1, %1
;=   %12 = add.i8 %4, %4
;=   %13 = add.i8 %7, %7
;=   %14 = add.i8 %10, %10
;=   %15 = zext.i32 %11
;=   %16 = zext.i32 %12
;=   %17 = shl.i32 %16, %2
;=   %18 = or.i32 %15, %17
;=   %19 = zext.i32 %13
;=   %20 = shl.i32 %19, %5
;=   %21 = zext.i32 %14
;=   %22 = shl.i32 %21, %8
;=   %23 = or.i32 %20, %22
;=   %24 = or.i32 %18, %23
;=   %s = bitcast.i8x4 %24
;=   store %s, %y[%i]
;=   ret
;= }

; test: lower passes=legalise,gvn,dce without=fadd.f16x2,ffma.f16x2,concat.f16x2,insert.f16x2,splat.f16x2,shuffle.f16x2,extract.f16x2,split.f16
; Halves, by their bits.
kernel @halves(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %s = fadd.f16x2 %a, %a
  store %s, %y[%i]
  ret
}
;= kernel @halves(%x: in f16x2, %y: out f16x2) {
;= ^entry:
;=   %i = item_id
;=   %a = load %x[%i]
;=   %0 = bitcast.i16x2 %a
;=   %1 = extract.i16x2 %0, 0
;=   %2 = bitcast.f16 %1
;=   %3 = extract.i16x2 %0, 1
;=   %4 = bitcast.f16 %3
;=   %5 = fadd.f16 %2, %2
;=   %6 = fadd.f16 %4, %4
;=   %7 = bitcast.i16 %5
;=   %8 = bitcast.i16 %6
;=   %9 = concat.i16x2 %7, %8
;=   %s = bitcast.f16x2 %9
;=   store %s, %y[%i]
;=   ret
;= }
