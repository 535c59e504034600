; test: refuse vp1
; Addresses that the copying engine cannot follow, where what is accessed may lie across two words of the data store.
kernel @masked(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %k = const.i32 3
  %j = and.i32 %i, %k
  %a = load %x[%j] align 1
  store %a, %y[%i]
  ret
}
;= %a = load %x[%j] align 1
;=     vp1 cannot do `load.i8x4`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on `and.i32` (`%j`), and it may be unaligned in the data store

kernel @squared(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %j = mul.i32 %i, %i
  %a = load %x[%i]
  store %a, %y[%j] align 1
  ret
}
;= store %a, %y[%j] align 1
;=     vp1 cannot do `store.i8x4`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on `mul.i32` (`%j`, a product of two values that differ from item to item), and it may be unaligned in the data store

; A product of two parameters is known at the launch, but is no sum of parameters.
kernel @product_of_parameters(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %j = mul.i32 %w, %n
  %a = load %x[%j] align 1
  store %a, %y[%i]
  ret
}
;= %a = load %x[%j] align 1
;=     vp1 cannot do `load.i8x4`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on `mul.i32` (`%j`, a product of two parameters), and it may be unaligned in the data store

; An index that one of two ways chooses is no sum.
kernel @chosen(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %c = icmp.eq.i32 %n, %w
  br_if %c, ^a, ^b
^a:
  br ^c(%n)
^b:
  br ^c(%w)
^c(%j: i32):
  %a = load %x[%j] align 1
  store %a, %y[%i]
  ret
}
;= %a = load %x[%j] align 1
;=     vp1 cannot do `load.i8x4`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on a value that depends on the path taken (`%j`), and it may be unaligned in the data store

; A buffer has no address where the kernel runs.
kernel @pointer(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %o = const.i64 8
  %p = ptr_add %x, %o
  %a = load.i8x4 %p[%i]
  store %a, %y[%i]
  ret
}
;= %p = ptr_add %x, %o
;=     vp1 cannot do `ptr_add`: this target copies buffers in pieces, so a buffer has no address
;= %a = load.i8x4 %p[%i]
;=     vp1 cannot do `load.i8x4`: its address is not in a buffer parameter of the kernel

; The copies are made before the kernel runs: it does not read what it writes elsewhere.
kernel @read_after_write(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  store %a, %y[%i]
  %b = load %y[%n] align 1
  store %b, %y[%i]
  ret
}
;= %b = load %y[%n] align 1
;=     vp1 cannot do `load.i8x4`: it may overlap an earlier store of the same work item at a different address

kernel @read_as_another_type(%n: i32, %w: i32, %x: in i8x4, %t: in i32, %y: inout i8x4) {
^entry:
  %i = item_id
  %a = load %x[%i]
  store %a, %y[%i]
  %b = load.i32 %y[%i] align 1
  %c = bitcast.i8x4 %b
  store %c, %y[%i]
  ret
}
;= %b = load.i32 %y[%i] align 1
;=     vp1 cannot do `load.i32`: it may overlap an earlier store of the same work item at a different address

; Contents are a buffer like any other.
kernel @look_up(%x: in i32, %y: out i32, %table: in i32 = [1, 2, 4, 8]) {
^entry:
  %i = item_id
  %k = load %x[%i]
  %a = load %table[%k] align 1
  store %a, %y[%i]
  ret
}
;= %a = load %table[%k] align 1
;=     vp1 cannot do `load.i32`: its index is not affine in `item_id`, `i32` parameters and loop counters: it depends on `load.i32` (`%k`), and it may be unaligned in the data store
