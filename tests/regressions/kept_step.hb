; The step of the second loop is made in the first, which items leave apart, and to which some never come.
kernel @kept_step(%x: in i8, %z: out i8) {
^entry:
  %i = item_id
  %three = const.i32 3
  %most = and.i32 %i, %three
  %zero = const.i32 0
  br ^apart(%zero)
^apart(%j: i32):
  %one = const.i32 1
  %next = add.i32 %j, %one
  %c = icmp.lt_u.i32 %next, %most
  br_if %c, ^apart(%next), ^row(%zero, %j)
^row(%k: i32, %sum: i32):
  %a = load %x[%i]
  %w = zext.i32 %a
  %more = add.i32 %sum, %w
  %k2 = add.i32 %k, %one
  %d = icmp.lt_u.i32 %k2, %three
  br_if %d, ^row(%k2, %more), ^done
^done:
  %b = trunc.i8 %more
  store %b, %z[%i]
  ret
}
