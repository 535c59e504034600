; test: isel ptx
; Integers of 64 bits: instructions of their own, and words where there are none.
kernel @neg(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %r = neg.i64 %a
  store %r, %o[%i]
  ret
}
; rule: pair_neg

kernel @mul(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = mul.i64 %a, %b
  store %r, %o[%i]
  ret
}
; rule: pair_mul

kernel @rotl(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = rotl.i64 %a, %b
  store %r, %o[%i]
  ret
}
; rule: pair_rotl
; rule: low_of_pair
; rule: high_of_pair

kernel @rotl_5(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 5
  %r = rotl.i64 %a, %k
  store %r, %o[%i]
  ret
}
; rule: pair_rotl_near

kernel @rotl_40(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 40
  %r = rotl.i64 %a, %k
  store %r, %o[%i]
  ret
}
; rule: pair_rotl_far

kernel @rotl_32(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 32
  %r = rotl.i64 %a, %k
  store %r, %o[%i]
  ret
}
; rule: pair_exchanged

kernel @shl(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = shl.i64 %a, %b
  store %r, %o[%i]
  ret
}
; check: shl.b64
; rule: pair_shl
; rule: count_in_pair

kernel @shr_u(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = shr_u.i64 %a, %b
  store %r, %o[%i]
  ret
}
; check: shr.u64
; rule: pair_shr_u
; rule: count_in_pair

kernel @shr_s(%x: in i64, %y: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %r = shr_s.i64 %a, %b
  store %r, %o[%i]
  ret
}
; check: shr.s64
; rule: pair_shr_s
; rule: count_in_pair

kernel @shl_40(%x: in i64, %o: out i64) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %k = const.i64 40
  %r = shl.i64 %a, %k
  store %r, %o[%i]
  ret
}
; rule: pair_shl
; rule: number_in_pair

kernel @funnel_shl(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = const.i32 5
  %n = const.i32 27
  %p = shl.i32 %a, %m
  %q = shr_u.i32 %b, %n
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
; check: shf.l
; rule: funnel_of_shl

kernel @funnel_shr(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = const.i32 5
  %n = const.i32 27
  %p = shl.i32 %a, %m
  %q = shr_u.i32 %b, %n
  %r = or.i32 %q, %p
  store %r, %o[%i]
  ret
}
; check: shf.l
; rule: funnel_of_shr

kernel @no_funnel(%x: in i32, %y: in i32, %o: out i32) {
^entry:
  %i = item_id
  %a = load %x[%i]
  %b = load %y[%i]
  %m = const.i32 5
  %n = const.i32 26
  %p = shl.i32 %a, %m
  %q = shr_u.i32 %b, %n
  %r = or.i32 %p, %q
  store %r, %o[%i]
  ret
}
; no rule: funnel_of_shl
; no rule: funnel_of_shr
