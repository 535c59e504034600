; Number of steps from each of n numbers to 1, where a step halves an even x and replaces an odd x by 3 x + 1. The numbers form
; a queue. Each subgroup takes 32 numbers at a time, when it has finished the previous ones: its first item advances the head
; of the queue, and the other items learn the position from it. The assignment depends on the order of subgroups, but these
; results do not: y, the sum of all steps, and the count of taken numbers. 0 counts as 1. The group size is a multiple of 32.
kernel queue(n: i32, x: in i32, head: inout i32, y: out i32, total: inout i32, taken: inout i32) {
  shared sum: i32[1]
  shared count: i32[1]
  let (l, lane) = (local_id(), lane_id())
  let (first, leads) = (l == 0, lane == 0)
  if first {
    sum[0] = 0
    count[0] = 0
  }
  barrier()
  while true {
    let from = if leads { atomic_add(32, head[0]) } else { 0 }
    let base = subgroup_shuffle(from, 0, 31, -1)
    if base >=_u n { break }
    let t = base + lane
    if t <_u n {
      var (v, steps) = (x[t], 0)
      while v >_u 1 {
        let odd = v & 1 != 0
        let half = v >>_u 1
        v = select(odd, v * 3 + 1, half)
        steps += 1
      }
      y[t] = steps
      atomic_add.group(steps, sum[0])
      atomic_add.group(1, count[0])
    }
  }
  barrier()
  if first {
    let (s, c) = (sum[0], count[0])
    atomic_add(s, total[0])
    atomic_add(c, taken[0])
  }
}
; run: halu, ptx: @queue grid=2 block=64 n=90 x=[0, 1, 27, 97, 437, 603, 820, 110, 960, 902, 293, 467, 341, 527, 793, 512, 460, 423, 914, 603, 382, 535, 55, 794, 291, 245, 920, 831, 592, 331, 997, 351, 841, 992, 696, 519, 183, 503, 425, 876, 20, 601, 342, 621, 223, 227, 959, 878, 159, 353, 489, 23, 478, 157, 273, 712, 330, 413, 937, 517, 140, 840, 537, 712, 824, 217, 272, 764, 96, 700, 944, 602, 451, 513, 639, 937, 541, 614, 844, 62, 971, 859, 398, 675, 141, 273, 614, 791, 497, 953] head=[0] total=[0] taken=[0] -> head=[224] y=[0, 0, 111, 118, 115, 69, 28, 113, 23, 54, 117, 84, 11, 79, 77, 9, 35, 32, 129, 69, 45, 22, 112, 28, 117, 21, 36, 134, 25, 24, 49, 81, 41, 111, 33, 61, 93, 66, 58, 54, 7, 56, 125, 87, 70, 13, 129, 54, 54, 125, 48, 15, 53, 36, 29, 33, 112, 89, 173, 123, 15, 41, 22, 33, 90, 26, 16, 46, 12, 82, 36, 17, 53, 35, 131, 173, 43, 38, 41, 107, 36, 147, 120, 113, 15, 29, 38, 77, 22, 28] total=[5597] taken=[90]
; run: halu, ptx: @queue grid=1 block=32 n=70 x=[0, 1, 27, 97, 437, 603, 820, 110, 960, 902, 293, 467, 341, 527, 793, 512, 460, 423, 914, 603, 382, 535, 55, 794, 291, 245, 920, 831, 592, 331, 997, 351, 841, 992, 696, 519, 183, 503, 425, 876, 20, 601, 342, 621, 223, 227, 959, 878, 159, 353, 489, 23, 478, 157, 273, 712, 330, 413, 937, 517, 140, 840, 537, 712, 824, 217, 272, 764, 96, 700] head=[0] total=[0] taken=[0] -> head=[128] y=[0, 0, 111, 118, 115, 69, 28, 113, 23, 54, 117, 84, 11, 79, 77, 9, 35, 32, 129, 69, 45, 22, 112, 28, 117, 21, 36, 134, 25, 24, 49, 81, 41, 111, 33, 61, 93, 66, 58, 54, 7, 56, 125, 87, 70, 13, 129, 54, 54, 125, 48, 15, 53, 36, 29, 33, 112, 89, 173, 123, 15, 41, 22, 33, 90, 26, 16, 46, 12, 82] total=[4298] taken=[70]
