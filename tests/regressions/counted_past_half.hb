; A bound that is 2^31 steps and more away counts no iterations of a loop that another branch leaves before.
kernel @counted_past_half(%y: inout i32, %x: in i8, %s: i32) {
^b1:
  %i = item_id
  %zero = const.i32 0
  br ^b2(%zero)
^b2(%k: i32):
  %again = icmp.ge_s.i32 %i, %k
  store %k, %y[%i]
  %past = icmp.gt_u.i32 %k, %s
  br_if %past, ^b4, ^b3
^b3:
  %v = load %x
  %one = const.i32 1
  %next = add.i32 %k, %one
  br_if %again, ^b2(%next), ^b4
^b4:
  ret
}
