; What is the same for all groups of items comes before the loop over them, and needs its words of factors there.
kernel @sum_of_products(%a: i8x16, %b: i8x16, %s: i8, %t: i8, %out: out i8x16) {
^entry:
  %i = item_id
  %f = splat.i8x16 %s
  %g = splat.i8x16 %t
  %u = mul_wide_s.i8x16 %a, %f
  %v = mul_wide_s.i8x16 %b, %g
  %p = sext.i32x16 %u
  %q = sext.i32x16 %v
  %x = add.i32x16 %p, %q
  %k = const.i32x16 6
  %y = round_shr_s.i32x16 %x, %k
  %z = narrow_sat_s.i16x16 %y
  %r = narrow_sat_s.i8x16 %z
  store %r, %out[%i]
  ret
}
