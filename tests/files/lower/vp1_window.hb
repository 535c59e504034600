; test: lower vp1
; A table in memory, at an index that is loaded: the buffer is there as a whole, and before a load its offset is stored.
kernel @table(%t: in i32, %x: in i32, %y: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = load %t[%a + 1]
  store %r, %y[%i]
  ret
}
; run: halu, vp1, ptx: @table items=5 t=random(300, 1) x=[0, 298, 17, 17, 5] y=zeros(5)
;= kernel @table(%t: in i32, %x: in i32, %y: out i32) groups 1 {
;=   stream %t_all: whole in i32 of %t
;=   stream %x_1: in i32 of %x, 4 bytes at 4 * item
;=   stream %t_2: out i32 of %t, 4 bytes loads %t_all offset 4
;=   stream %y_3: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %x_1[%i]
;=   %0 = const.i32 2
;=   %1 = shl.i32 %a, %0
;=   store %1, %t_2[%i]
;=   %2 = const.i32 4
;=   %3 = add.i32 %1, %2
;=   %r = load %t_all[%3] step 1
;=   store %r, %y_3[%i]
;=   ret
;= }

; What is known to be in the kernel's own table needs no offset.
kernel @own_table(%x: in i32, %y: out i32, %t: in i32 = [1, 2, 4, 8, 16, 32, 64, 128]) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %k = and.i32 %a, %seven
  %r = load %t[%k]
  store %r, %y[%i]
  ret
}
; run: halu, vp1, ptx: @own_table items=300 x=random(300, 1) y=zeros(300)
;= kernel @own_table(%x: in i32, %y: out i32, %t: in i32 = [1, 2, 4, 8, 16, 32, 64, 128]) groups 1 {
;=   stream %t_all: whole in i32 of %t
;=   stream %x_1: in i32 of %x, 4 bytes at 4 * item
;=   stream %y_2: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %x_1[%i]
;=   %seven = const.i32 7
;=   %k = and.i32 %a, %seven
;=   %0 = const.i32 2
;=   %1 = shl.i32 %k, %0
;=   %r = load %t_all[%1] step 1
;=   store %r, %y_2[%i]
;=   ret
;= }

; What may not be in it has one.
kernel @beyond(%x: in i32, %y: out i32, %t: in i32 = [1, 2, 4, 8, 16, 32, 64]) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %seven = const.i32 7
  %k = and.i32 %a, %seven
  %r = load %t[%k]
  store %r, %y[%i]
  ret
}
; run: halu, vp1, ptx: @beyond items=3 x=[8, 1, 6] y=zeros(3)
;= kernel @beyond(%x: in i32, %y: out i32, %t: in i32 = [1, 2, 4, 8, 16, 32, 64]) groups 1 {
;=   stream %t_all: whole in i32 of %t
;=   stream %x_1: in i32 of %x, 4 bytes at 4 * item
;=   stream %t_2: out i32 of %t, 4 bytes loads %t_all
;=   stream %y_3: out i32 of %y, 4 bytes at 4 * item
;= ^entry:
;=   %i = item_id
;=   %a = load %x_1[%i]
;=   %seven = const.i32 7
;=   %k = and.i32 %a, %seven
;=   %0 = const.i32 2
;=   %1 = shl.i32 %k, %0
;=   store %1, %t_2[%i]
;=   %r = load %t_all[%1] step 1
;=   store %r, %y_3[%i]
;=   ret
;= }

; A store, of items that make it: others, and those after the last one of the launch, go nowhere.
kernel @scatter(%w: i8x4, %x: in i8x4, %at: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = load %at[%i]
  %m = icmp.gt_u.i8x4 %a, %w
  %c = any.i1x4 %m
  br_if %c, ^yes, ^no
^yes:
  store %a, %y[%k]
  br ^no
^no:
  ret
}
; run: halu, vp1, ptx: @scatter items=5 w=100 x=random(5, 1) at=[4, 2, 0, 1, 3] y=random(5, 2)
;= kernel @scatter(%w: i8x4, %x: in i8x4, %at: in i32, %y: inout i8x4) groups 4 {
;=   stream %y_all: whole inout i8x4 of %y
;=   stream %x_1: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %at_2: in i32 of %at, 4 bytes at 4 * item
;=   stream %y_3: out i32 of %y, 4 bytes stores %y_all, guard %y_3_guard
;=   stream %y_3_guard: out i32, 4 bytes
;= ^entry:
;=   %0 = item_id
;=   %1 = concat.i8x16 %w, %w, %w, %w
;=   %2 = const.i32 4
;=   %3 = mul.i32 %0, %2
;=   %4 = const.i32 1
;=   %5 = add.i32 %3, %4
;=   %6 = const.i32 2
;=   %7 = add.i32 %3, %6
;=   %8 = const.i32 3
;=   %9 = add.i32 %3, %8
;=   %a = load %x_1[%0]
;=   %10 = load %at_2[%3]
;=   %11 = load %at_2[%3 + 1]
;=   %12 = load %at_2[%3 + 2]
;=   %13 = load %at_2[%3 + 3]
;=   %m = icmp.gt_u.i8x16 %a, %1
;=   %14 = mask_expand.i8x16 %m
;=   %15 = split.i32 %14, 0
;=   %16 = const.i32 0
;=   %17 = icmp.ne.i32 %15, %16
;=   %18 = split.i32 %14, 1
;=   %19 = icmp.ne.i32 %18, %16
;=   %20 = split.i32 %14, 2
;=   %21 = icmp.ne.i32 %20, %16
;=   %22 = split.i32 %14, 3
;=   %23 = icmp.ne.i32 %22, %16
;=   %24 = mask_expand.i32 %17
;=   %25 = mask_expand.i32 %19
;=   %26 = mask_expand.i32 %21
;=   %27 = mask_expand.i32 %23
;=   store %24, %y_3_guard[%3]
;=   store %25, %y_3_guard[%3 + 1]
;=   store %26, %y_3_guard[%3 + 2]
;=   store %27, %y_3_guard[%3 + 3]
;=   %28 = shl.i32 %10, %6
;=   %29 = shl.i32 %11, %6
;=   %30 = shl.i32 %12, %6
;=   %31 = shl.i32 %13, %6
;=   store %28, %y_3[%3]
;=   store %29, %y_3[%3 + 1]
;=   store %30, %y_3[%3 + 2]
;=   store %31, %y_3[%3 + 3]
;=   %32 = split.i8x4 %a, 0
;=   %33 = split.i8x4 %a, 1
;=   %34 = split.i8x4 %a, 2
;=   %35 = split.i8x4 %a, 3
;=   %36 = item_count
;=   %37 = icmp.lt_u.i32 %3, %36
;=   %38 = icmp.lt_u.i32 %5, %36
;=   %39 = icmp.lt_u.i32 %7, %36
;=   %40 = icmp.lt_u.i32 %9, %36
;=   %41 = const.i32 2147483647
;=   %42 = select.i32 %17, %28, %41
;=   %43 = select.i32 %37, %42, %41
;=   store %32, %y_all[%43] step 1
;=   %44 = select.i32 %19, %29, %41
;=   %45 = select.i32 %38, %44, %41
;=   store %33, %y_all[%45] step 1
;=   %46 = select.i32 %21, %30, %41
;=   %47 = select.i32 %39, %46, %41
;=   store %34, %y_all[%47] step 1
;=   %48 = select.i32 %23, %31, %41
;=   %49 = select.i32 %40, %48, %41
;=   store %35, %y_all[%49] step 1
;=   ret
;= }

; What an item has written before is read again.
kernel @read_after_write(%n: i32, %x: in i8x4, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  store %a, %y[%i]
  %b = load.i32 %y[%i]
  %c = bitcast.i8x4 %b
  %d = add.i8x4 %c, %a
  store %d, %y[%i]
  ret
}
; run: halu, vp1, ptx: @read_after_write items=9 n=3 x=random(9, 1) y=random(9, 2)
;= kernel @read_after_write(%n: i32, %x: in i8x4, %y: inout i8x4) groups 4 {
;=   stream %y_all: whole inout i8x4 of %y
;=   stream %x_1: in i8x16 of %x, 4 bytes at 4 * item
;=   stream %y_2: out i32 of %y, 4 bytes stores %y_all
;=   stream %y_3: out i32 of %y, 4 bytes loads %y_all
;=   stream %y_4: out i32 of %y, 4 bytes stores %y_all
;= ^entry:
;=   %0 = item_id
;=   %1 = const.i32 4
;=   %2 = mul.i32 %0, %1
;=   %3 = const.i32 1
;=   %4 = add.i32 %2, %3
;=   %5 = const.i32 2
;=   %6 = add.i32 %2, %5
;=   %7 = const.i32 3
;=   %8 = add.i32 %2, %7
;=   %a = load %x_1[%0]
;=   %9 = shl.i32 %2, %5
;=   %10 = shl.i32 %4, %5
;=   %11 = shl.i32 %6, %5
;=   %12 = shl.i32 %8, %5
;=   store %9, %y_2[%2]
;=   store %10, %y_2[%2 + 1]
;=   store %11, %y_2[%2 + 2]
;=   store %12, %y_2[%2 + 3]
;=   %13 = split.i8x4 %a, 0
;=   %14 = split.i8x4 %a, 1
;=   %15 = split.i8x4 %a, 2
;=   %16 = split.i8x4 %a, 3
;=   %17 = item_count
;=   %18 = icmp.lt_u.i32 %2, %17
;=   %19 = icmp.lt_u.i32 %4, %17
;=   %20 = icmp.lt_u.i32 %6, %17
;=   %21 = icmp.lt_u.i32 %8, %17
;=   %22 = const.i32 2147483647
;=   %23 = select.i32 %18, %9, %22
;=   store %13, %y_all[%23] step 1
;=   %24 = select.i32 %19, %10, %22
;=   store %14, %y_all[%24] step 1
;=   %25 = select.i32 %20, %11, %22
;=   store %15, %y_all[%25] step 1
;=   %26 = select.i32 %21, %12, %22
;=   store %16, %y_all[%26] step 1
;=   store %9, %y_3[%2]
;=   store %10, %y_3[%2 + 1]
;=   store %11, %y_3[%2 + 2]
;=   store %12, %y_3[%2 + 3]
;=   %27 = load.i32 %y_all[%9] step 1
;=   %28 = load.i32 %y_all[%10] step 1
;=   %29 = load.i32 %y_all[%11] step 1
;=   %30 = load.i32 %y_all[%12] step 1
;=   %c = concat.i8x16 %27, %28, %29, %30
;=   %d = add.i8x16 %c, %a
;=   store %9, %y_4[%2]
;=   store %10, %y_4[%2 + 1]
;=   store %11, %y_4[%2 + 2]
;=   store %12, %y_4[%2 + 3]
;=   %31 = split.i8x4 %d, 0
;=   %32 = split.i8x4 %d, 1
;=   %33 = split.i8x4 %d, 2
;=   %34 = split.i8x4 %d, 3
;=   store %31, %y_all[%23] step 1
;=   store %32, %y_all[%24] step 1
;=   store %33, %y_all[%25] step 1
;=   store %34, %y_all[%26] step 1
;=   ret
;= }

; Bytes are merged into their words.
kernel @bytes(%x: in i32, %y: inout i8) {
^entry:
  %i = item_id
  %k = load %x[%i]
  %b = load %y[%k + 8]
  %one = const.i8 1
  %c = add.i8 %b, %one
  store %c, %y[%k]
  ret
}
; run: halu, vp1, ptx: @bytes items=4 x=[3, 0, 2, 1] y=random(12, 2)
;= kernel @bytes(%x: in i32, %y: inout i8) groups 1 {
;=   stream %y_all: whole inout i8 of %y
;=   stream %x_1: in i32 of %x, 4 bytes at 4 * item
;=   stream %y_2: out i32 of %y, 1 byte loads %y_all offset 8
;=   stream %y_3: out i32 of %y, 1 byte stores %y_all
;= ^entry:
;=   %i = item_id
;=   %k = load %x_1[%i]
;=   store %k, %y_2[%i]
;=   %0 = const.i32 8
;=   %1 = add.i32 %k, %0
;=   %b = load %y_all[%1]
;=   %one = const.i8 1
;=   %c = add.i8 %b, %one
;=   store %k, %y_3[%i]
;=   store %c, %y_all[%k]
;=   ret
;= }
