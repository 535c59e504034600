; Two bytes make sixteen bits, not the low halves of two words.
kernel @concat_bytes(%a: in i8, %b: in i8, %r: out i16, %h: out f16) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %z = concat.i16 %x, %y
  store %z, %r[%i]
  %f = concat.f16 %y, %x
  store %f, %h[%i]
  ret
}
