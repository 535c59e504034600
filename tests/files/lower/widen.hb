; test: lower halu passes=widen
; Four words in a row, from a multiple of 16 bytes, are loaded and stored at once. What else stands there stays.
kernel @brighten(%x: in i8x4 align 16, %y: out i8x4 align 16, %by: i8x4) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %v0 = load %x[%j]
  %v1 = load %x[%j + 1]
  %r0 = add_sat_u.i8x4 %v0, %by
  %v2 = load %x[%j + 2]
  %v3 = load %x[%j + 3]
  %r1 = add_sat_u.i8x4 %v1, %by
  %r2 = add_sat_u.i8x4 %v2, %by
  store %r0, %y[%j]
  store %r1, %y[%j + 1]
  store %r2, %y[%j + 2]
  %r3 = add_sat_u.i8x4 %v3, %by
  store %r3, %y[%j + 3]
  ret
}
;= kernel @brighten(%x: in i8x4 align 16, %y: out i8x4 align 16, %by: i8x4) {
;= ^entry:
;=   %i = item_id
;=   %four = const.i32 4
;=   %j = mul.i32 %i, %four
;=   %0 = load.i8x16 %x[%j]
;=   %v0 = split.i8x4 %0, 0
;=   %v1 = split.i8x4 %0, 1
;=   %r0 = add_sat_u.i8x4 %v0, %by
;=   %v2 = split.i8x4 %0, 2
;=   %v3 = split.i8x4 %0, 3
;=   %r1 = add_sat_u.i8x4 %v1, %by
;=   %r2 = add_sat_u.i8x4 %v2, %by
;=   %r3 = add_sat_u.i8x4 %v3, %by
;=   %1 = concat.i8x16 %r0, %r1, %r2, %r3
;=   store.i8x16 %1, %y[%j]
;=   ret
;= }

; As many at once as the alignment and the number allow: here two at once, then four, then one.
kernel @from_the_third(%x: in i32 align 16, %y: out i32) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %a = load %x[%j + 2]
  %b = load %x[%j + 3]
  %c = load %x[%j + 4]
  %d = load %x[%j + 5]
  %e = load %x[%j + 6]
  %f = load %x[%j + 7]
  %g = load %x[%j + 8]
  %r = add.i32 %a, %b
  %s = add.i32 %r, %c
  %t = add.i32 %s, %d
  %u = add.i32 %t, %e
  %v = add.i32 %u, %f
  %w = add.i32 %v, %g
  store %w, %y[%i]
  ret
}
; check: load.i64 %x[%j + 2]
; check: split.i32 {{.*}}, 0
; check: load.i8x16 %x[%j + 4]
; check: split.i32 {{.*}}, 3
; next: %g = load %x[%j + 8]

; Words of other types are parts as well where they are loaded. Stored ones are of one type.
kernel @types(%x: in f32 align 8, %y: out f32 align 8, %a: i32, %b: f32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %u = load %x[%j]
  %v = load.f16x2 %x[%j + 1]        ; check: load.i64 %x[%j]
                                    ; next: %u = split.f32
                                    ; next: %v = split.f16x2
  %w = bitcast.f32 %v
  %s = fadd.f32 %u, %w
  store.i32 %a, %y[%j]              ; check: store.i32 %a
  store %s, %y[%j + 1]              ; next: store %s
  ret
}

; What is loaded at once is stored as it is.
kernel @copy(%x: in f16x2 align 16, %y: out f16x2 align 16) {
^entry:
  %i = item_id
  %mask = const.i32 -8
  %j = and.i32 %i, %mask
  %a = load %x[%j + 4]              ; check: [[W:%\w+]] = load.i8x16 %x[%j + 4]
  %b = load %x[%j + 5]
  %c = load %x[%j + 6]
  %d = load %x[%j + 7]
  store %a, %y[%j]
  store %b, %y[%j + 1]
  store %c, %y[%j + 2]
  store %d, %y[%j + 3]              ; check: store.i8x16 [[W]], %y[%j]
  ret
}
; never: concat

; Side by side around a loop: the index grows by four in every round.
kernel @rounds(%x: in i32 align 16, %y: out i32, %n: i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = load %x[%k]                  ; check: load.i8x16 %x[%k]
  %b = load %x[%k + 1]
  %c = load %x[%k + 2]
  %d = load %x[%k + 3]
  %s = add.i32 %sum, %a
  %t = add.i32 %s, %b
  %u = add.i32 %t, %c
  %v = add.i32 %u, %d
  %four = const.i32 4
  %next = add.i32 %k, %four
  %more = icmp.lt_u.i32 %next, %n
  br_if %more, ^loop(%next, %v), ^done
^done:
  store %v, %y[%i]
  ret
}

; An address that is computed: the buffer's alignment and that of the bytes added to it.
kernel @computed(%x: in i32 align 32, %y: out i32) {
^entry:
  %i = item_id
  %wide = zext.i64 %i
  %48 = const.i64 48
  %bytes = mul.i64 %wide, %48
  %p = ptr_add %x, %bytes
  %a = load.i32 %p                  ; check: load.i8x16 %p
  %b = load.i32 %p[1]
  %c = load.i32 %p[2]
  %d = load.i32 %p[3]
  %r = add.i32 %a, %b
  %s = add.i32 %c, %d
  %t = add.i32 %r, %s
  store %t, %y[%i]
  ret
}

; The buffer's own alignment is that of a word.
kernel @unknown_alignment(%x: in i32, %y: out i32 align 16) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = load %x[%j + 2]
  %d = load %x[%j + 3]
  %r = add.i32 %a, %b
  %s = add.i32 %c, %d
  store %r, %y[%i]
  store %s, %y[%i + 1]
  ret
}
; never: load.i8x16
; never: load.i64

; An index that is one more in every round is no multiple of anything.
kernel @by_ones(%x: in i32 align 16, %y: out i32, %n: i32) {
^entry:
  %i = item_id
  %zero = const.i32 0
  br ^loop(%zero, %zero)
^loop(%k: i32, %sum: i32):
  %a = load %x[%k]                  ; check: load %x[%k]
  %b = load %x[%k + 1]              ; next: load %x[%k + 1]
  %s = add.i32 %sum, %a
  %t = add.i32 %s, %b
  %one = const.i32 1
  %next = add.i32 %k, %one
  %more = icmp.lt_u.i32 %next, %n
  br_if %more, ^loop(%next, %t), ^done
^done:
  store %t, %y[%i]
  ret
}

; The first to trap would be the last one.
kernel @descending(%x: in i32 align 8, %y: out i32 align 8) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %b = load %x[%j + 1]              ; check: load %x[%j + 1]
  %a = load %x[%j]                  ; next: load %x[%j]
  store %b, %y[%j + 1]              ; next: store
  store %a, %y[%j]                  ; next: store
  ret
}

; A word is left out.
kernel @hole(%x: in i32 align 16, %y: out i32 align 8) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %a = load %x[%j]                  ; check: load %x[%j]
  %b = load %x[%j + 2]              ; next: load.i64 %x[%j + 2]
  %c = load %x[%j + 3]
  %r = add.i32 %a, %b
  %s = add.i32 %r, %c
  store %s, %y[%i]
  ret
}
; never: load %x[%j + 2]

; What another access may trap at, or change, stays before what comes after it.
kernel @between(%x: in i32 align 8, %y: inout i32 align 8, %z: in i32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]                  ; check: load %x[%j]
  %o = load %z[%i]                  ; next: load %z[%i]
  %b = load %x[%j + 1]              ; next: load %x[%j + 1]
  %r = add.i32 %a, %b
  store %r, %y[%j]                  ; check: store %r
  %s = load %y[%j + 1]              ; next: load
  %t = add.i32 %s, %o
  store %t, %y[%j + 1]              ; check: store %t
  ret
}

; Neither another buffer's words nor those of another index or step lie side by side.
kernel @apart(%x: in i32 align 8, %w: in i32 align 8, %y: out i32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %two = const.i32 2
  %k = shl.i32 %i, %two
  %a = load %x[%j]                  ; check: load %x[%j]
  %b = load %w[%j + 1]              ; next: load %w[%j + 1]
  %c = load %w[%k + 2]              ; next: load %w[%k + 2]
  %d = load %w[%k + 3] step 8       ; next: load
  %e = load %x                      ; next: load
  %f = load %x[%j + 1]              ; next: load
  %r = add.i32 %a, %b
  %s = add.i32 %c, %d
  %t = add.i32 %e, %f
  %u = add.i32 %r, %s
  %v = add.i32 %t, %u
  store %v, %y[%i]
  ret
}
; never: load.i64
; never: load.i8x16

; What follows in another block may not be reached.
kernel @blocks(%x: in i32 align 8, %y: out i32, %n: i32) {
^entry:
  %i = item_id
  %one = const.i32 1
  %j = shl.i32 %i, %one
  %a = load %x[%j]                  ; check: load %x[%j]
  %c = icmp.lt_s.i32 %a, %n
  br_if %c, ^more, ^done
^more:
  %b = load %x[%j + 1]              ; check: load %x[%j + 1]
  store %b, %y[%i]
  ret
^done:
  store %a, %y[%i]
  ret
}

; test: lower vp1 passes=widen
; Where parts of a vector cost something, accesses stay as they are.
kernel @streams(%x: in i8x4 align 16, %y: out i8x4 align 16) {
^entry:
  %i = item_id
  %four = const.i32 4
  %j = mul.i32 %i, %four
  %a = load %x[%j]                  ; check: load %x[%j]
  %b = load %x[%j + 1]              ; next: load %x[%j + 1]
  store %a, %y[%j]                  ; next: store
  store %b, %y[%j + 1]              ; next: store
  ret
}
