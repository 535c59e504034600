; The functions of `std/group` are reductions over a subgroup or group, and softmax of rows. All reductions are collective operations: all items of the group call the function,
; and each item gets the result. A group must have a multiple of 32 items, and the kernel passes `parts`, a shared array of 32 elements. The softmax
; functions use `fexp2`, which is approximate on a GPU; the error of softmax is measured over the rows of the tests.

include "std/half"

; Returns the sum of the subgroup's 32 values, for any 32-bit type with addition. Error: for floats, five roundings.
fn subgroup_sum<T>(a: T) -> T {
  var sum = a
  unroll for k in 0..5 { sum += subgroup_shuffle_xor(sum, 16 >>_u k, 31, -1) }
  sum
}

; Returns the maximum of the subgroup's 32 floats.
fn subgroup_max<T>(a: T) -> T {
  var most = a
  unroll for k in 0..5 { most = fmax(most, subgroup_shuffle_xor(most, 16 >>_u k, 31, -1)) }
  most
}

; Returns the sum of the values of all items of the group. Error: for floats, five roundings plus one for each further subgroup.
fn group_sum<T>(a: T, parts: inout T) -> T {
  let sum = subgroup_sum(a)
  barrier()
  if lane_id() == 0 { parts[subgroup_id()] = sum }
  barrier()
  var all = parts[0]
  for k in 1..group_size() >>_u 5 { all += parts[k] }
  all
}

; Returns the maximum of the floats of all items of the group.
fn group_max<T>(a: T, parts: inout T) -> T {
  let most = subgroup_max(a)
  barrier()
  if lane_id() == 0 { parts[subgroup_id()] = most }
  barrier()
  var all = parts[0]
  for k in 1..group_size() >>_u 5 { all = fmax(all, parts[k]) }
  all
}

; Returns the softmax of a row of 32 numbers, one per item. Error: 1.2e-7.
fn softmax_subgroup(a: f32) -> f32 {
  let power = exp(a - subgroup_max(a))
  power / subgroup_sum(power)
}

; Returns the softmax of a row of numbers, one per item of the group. Error: 5.6e-8.
fn softmax_group(a: f32, parts: inout f32) -> f32 {
  let power = exp(a - group_max(a, parts))
  power / group_sum(power, parts)
}

; Stores the softmax of `x[first]` to `x[first + n - 1]`, for n of at least 1, to the same elements of `y`. Error: 8.2e-8.
fn softmax_row(x: in f32, y: inout f32, first: i32, n: i32, parts: inout f32) {
  let (l, size) = (local_id(), group_size())
  var most = f32(-inf)
  for k in l..n step size { most = fmax(most, x[first + k]) }
  most = group_max(most, parts)
  var sum = f32(0.0)
  for k in l..n step size {
    let power = exp(x[first + k] - most)
    y[first + k] = power
    sum += power
  }
  sum = group_sum(sum, parts)
  for k in l..n step size { y[first + k] = y[first + k] / sum }
}

; Stores the softmax of a row of n pairs of halves, computed in `f32` and rounded once. Error: 2.45e-4.
fn softmax_row_h2(x: in f16x2, y: out f16x2, first: i32, n: i32, parts: inout f32) {
  let (l, size) = (local_id(), group_size())
  var both = f16x2(-inf)
  for k in l..n step size { both = fmax(both, x[first + k]) }
  let (p, q) = floats(both)
  let most = group_max(fmax(p, q), parts)
  var sum = f32(0.0)
  for k in l..n step size {
    let (a, b) = floats(x[first + k])
    sum += exp(a - most) + exp(b - most)
  }
  sum = group_sum(sum, parts)
  for k in l..n step size {
    let (a, b) = floats(x[first + k])
    y[first + k] = halves_of(exp(a - most) / sum, exp(b - most) / sum)
  }
}
