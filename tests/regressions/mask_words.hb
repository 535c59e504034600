; A mask of sixteen lanes is worked on in words where it is constant, too, and where a lane is replaced.
kernel @mask_words(%a: in i8x16, %b: in i8x16, %c: i1, %r: out i8x16, %s: out i8x16) {
^entry:
  %i = item_id
  %x = load %a[%i]
  %y = load %b[%i]
  %m = icmp.eq.i8x16 %x, %y
  %k = const.i1x16 [1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1]
  %n = select.i1x16 %c, %m, %k
  %v = mask_expand.i8x16 %n
  store %v, %r[%i]
  %o = insert.i1x16 %m, %c, 6
  %w = mask_expand.i8x16 %o
  store %w, %s[%i]
  ret
}
