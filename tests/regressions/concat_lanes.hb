; A word is a whole lane of sixteen, and is no part of itself: nothing is split from it.
kernel @concat_lanes(%a: in i32, %b: in i32, %r: out i8x16) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %w = concat.i32x16 %x, %y, %x, %x, %y, %y, %x, %y, %x, %y, %y, %y, %x, %x, %x, %y
  %s = trunc.i8x16 %w
  store %s, %r[%i]
  ret
}
