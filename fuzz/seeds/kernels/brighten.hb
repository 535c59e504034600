kernel @brighten(%by: i8x4, %pixels: in i8x4, %lighter: out i8x4) {
^entry:
  %i = item_id
  %p = load %pixels[%i]
  %r = add_sat_u.i8x4 %p, %by
  store %r, %lighter[%i]
  ret
}
