; How many steps each of n numbers takes to 1, if an even one is halved and of an odd one comes 3 x + 1: the numbers are a queue, of which each
; subgroup takes 32 at a time, as it comes to an end with those before. Its first item moves the head of the queue on, and the others learn
; from it where their numbers are. Which subgroup takes which depends on their order, and the results do not: y, the sum of all steps, and
; how many numbers have been taken. 0 counts as 1. A group has a multiple of 32 items.
kernel @queue(%n: i32, %x: in i32, %head: inout i32, %y: out i32, %total: inout i32, %taken: inout i32) {
  shared %sum: i32[1]
  shared %count: i32[1]
^entry:
  %all = const.i32 -1
  %c = const.i32 31
  %zero = const.i32 0
  %one = const.i32 1
  %three = const.i32 3
  %c32 = const.i32 32
  %l = local_id
  %lane = lane_id
  %first = icmp.eq.i32 %l, %zero
  %leads = icmp.eq.i32 %lane, %zero
  br_if %first, ^clear, ^begin
^clear:
  store %zero, %sum
  store %zero, %count
  br ^begin
^begin:
  barrier
  br ^next
^next:
  br_if %leads, ^take, ^learn(%zero)
^take:
  %ticket = atomic_add %c32, %head
  br ^learn(%ticket)
^learn(%from: i32):
  %base = subgroup_shuffle.i32 %from, %zero, %c, %all
  %any = icmp.lt_u.i32 %base, %n
  br_if %any, ^number, ^done
^number:
  %t = add.i32 %base, %lane
  %mine = icmp.lt_u.i32 %t, %n
  br_if %mine, ^start, ^next
^start:
  %v0 = load %x[%t]
  br ^step(%v0, %zero)
^step(%v: i32, %steps: i32):
  %more = icmp.gt_u.i32 %v, %one
  br_if %more, ^move, ^write
^move:
  %low = and.i32 %v, %one
  %odd = icmp.ne.i32 %low, %zero
  %half = shr_u.i32 %v, %one
  %thrice = mul.i32 %v, %three
  %up = add.i32 %thrice, %one
  %v1 = select.i32 %odd, %up, %half
  %steps1 = add.i32 %steps, %one
  br ^step(%v1, %steps1)
^write:
  store %steps, %y[%t]
  atomic_add.group %steps, %sum
  atomic_add.group %one, %count
  br ^next
^done:
  barrier
  br_if %first, ^give, ^end
^give:
  %group_sum = load %sum
  %group_count = load %count
  atomic_add %group_sum, %total
  atomic_add %group_count, %taken
  br ^end
^end:
  ret
}
; run: halu, ptx: @queue grid=2 block=64 n=90 x=[0, 1, 27, 97, 437, 603, 820, 110, 960, 902, 293, 467, 341, 527, 793, 512, 460, 423, 914, 603, 382, 535, 55, 794, 291, 245, 920, 831, 592, 331, 997, 351, 841, 992, 696, 519, 183, 503, 425, 876, 20, 601, 342, 621, 223, 227, 959, 878, 159, 353, 489, 23, 478, 157, 273, 712, 330, 413, 937, 517, 140, 840, 537, 712, 824, 217, 272, 764, 96, 700, 944, 602, 451, 513, 639, 937, 541, 614, 844, 62, 971, 859, 398, 675, 141, 273, 614, 791, 497, 953] head=[0] total=[0] taken=[0] -> head=[224] y=[0, 0, 111, 118, 115, 69, 28, 113, 23, 54, 117, 84, 11, 79, 77, 9, 35, 32, 129, 69, 45, 22, 112, 28, 117, 21, 36, 134, 25, 24, 49, 81, 41, 111, 33, 61, 93, 66, 58, 54, 7, 56, 125, 87, 70, 13, 129, 54, 54, 125, 48, 15, 53, 36, 29, 33, 112, 89, 173, 123, 15, 41, 22, 33, 90, 26, 16, 46, 12, 82, 36, 17, 53, 35, 131, 173, 43, 38, 41, 107, 36, 147, 120, 113, 15, 29, 38, 77, 22, 28] total=[5597] taken=[90]
; run: halu, ptx: @queue grid=1 block=32 n=70 x=[0, 1, 27, 97, 437, 603, 820, 110, 960, 902, 293, 467, 341, 527, 793, 512, 460, 423, 914, 603, 382, 535, 55, 794, 291, 245, 920, 831, 592, 331, 997, 351, 841, 992, 696, 519, 183, 503, 425, 876, 20, 601, 342, 621, 223, 227, 959, 878, 159, 353, 489, 23, 478, 157, 273, 712, 330, 413, 937, 517, 140, 840, 537, 712, 824, 217, 272, 764, 96, 700] head=[0] total=[0] taken=[0] -> head=[128] y=[0, 0, 111, 118, 115, 69, 28, 113, 23, 54, 117, 84, 11, 79, 77, 9, 35, 32, 129, 69, 45, 22, 112, 28, 117, 21, 36, 134, 25, 24, 49, 81, 41, 111, 33, 61, 93, 66, 58, 54, 7, 56, 125, 87, 70, 13, 129, 54, 54, 125, 48, 15, 53, 36, 29, 33, 112, 89, 173, 123, 15, 41, 22, 33, 90, 26, 16, 46, 12, 82] total=[4298] taken=[70]
