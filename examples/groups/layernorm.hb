; Layer normalisation, a row of n halves a group: each element is shifted and scaled so that the row's mean is 0 and its variance 1, and then by
; gamma and beta of its column. Sums and what is computed of them are f32, and the result is rounded to a half once. A group has a multiple of
; 32 items, at most 1024; an item takes every element whose column is its local_id modulo the size of the group.
kernel @layernorm(%n: i32, %epsilon: f32, %x: in f16, %gamma: in f16, %beta: in f16, %y: out f16) {
  shared %sums: f32[32]
  shared %squares: f32[32]
^entry:
  %all = const.i32 -1
  %c = const.i32 31
  %zero = const.i32 0
  %none = const.f32 0
  %five = const.i32 5
  %d16 = const.i32 16
  %d8 = const.i32 8
  %d4 = const.i32 4
  %d2 = const.i32 2
  %d1 = const.i32 1
  %l = local_id
  %g = group_id
  %size = group_size
  %lane = lane_id
  %sub = subgroup_id
  %leads = icmp.eq.i32 %lane, %zero
  %subs = shr_u.i32 %size, %five
  %has = icmp.lt_u.i32 %lane, %subs
  %start = mul.i32 %g, %n
  %length = fcvt_from_u.f32 %n
  br ^add(%l, %none)
^add(%k: i32, %sum: f32):
  %more = icmp.lt_u.i32 %k, %n
  br_if %more, ^add_one, ^add_up
^add_one:
  %at = add.i32 %start, %k
  %h = load %x[%at wide]
  %f = fcvt.f32 %h
  %sum1 = fadd.f32 %sum, %f
  %k1 = add.i32 %k, %size
  br ^add(%k1, %sum1)
^add_up:
  %sa = subgroup_shuffle_xor.f32 %sum, %d16, %c, %all
  %s1 = fadd.f32 %sum, %sa
  %sb = subgroup_shuffle_xor.f32 %s1, %d8, %c, %all
  %s2 = fadd.f32 %s1, %sb
  %sc = subgroup_shuffle_xor.f32 %s2, %d4, %c, %all
  %s3 = fadd.f32 %s2, %sc
  %sd = subgroup_shuffle_xor.f32 %s3, %d2, %c, %all
  %s4 = fadd.f32 %s3, %sd
  %se = subgroup_shuffle_xor.f32 %s4, %d1, %c, %all
  %s5 = fadd.f32 %s4, %se
  br_if %leads, ^leave_sum, ^mean
^leave_sum:
  store %s5, %sums[%sub]
  br ^mean
^mean:
  barrier
  br_if %has, ^take_sum, ^add_sums(%none)
^take_sum:
  %part = load %sums[%lane]
  br ^add_sums(%part)
^add_sums(%t0: f32):
  %ta = subgroup_shuffle_xor.f32 %t0, %d16, %c, %all
  %t1 = fadd.f32 %t0, %ta
  %tb = subgroup_shuffle_xor.f32 %t1, %d8, %c, %all
  %t2 = fadd.f32 %t1, %tb
  %tc = subgroup_shuffle_xor.f32 %t2, %d4, %c, %all
  %t3 = fadd.f32 %t2, %tc
  %td = subgroup_shuffle_xor.f32 %t3, %d2, %c, %all
  %t4 = fadd.f32 %t3, %td
  %te = subgroup_shuffle_xor.f32 %t4, %d1, %c, %all
  %t5 = fadd.f32 %t4, %te
  %mean = fdiv.f32 %t5, %length
  br ^square(%l, %none)
^square(%j: i32, %square_sum: f32):
  %still = icmp.lt_u.i32 %j, %n
  br_if %still, ^square_one, ^square_up
^square_one:
  %of = add.i32 %start, %j
  %hj = load %x[%of wide]
  %fj = fcvt.f32 %hj
  %away = fsub.f32 %fj, %mean
  %square_sum1 = ffma.f32 %away, %away, %square_sum
  %j1 = add.i32 %j, %size
  br ^square(%j1, %square_sum1)
^square_up:
  %qa = subgroup_shuffle_xor.f32 %square_sum, %d16, %c, %all
  %q1 = fadd.f32 %square_sum, %qa
  %qb = subgroup_shuffle_xor.f32 %q1, %d8, %c, %all
  %q2 = fadd.f32 %q1, %qb
  %qc = subgroup_shuffle_xor.f32 %q2, %d4, %c, %all
  %q3 = fadd.f32 %q2, %qc
  %qd = subgroup_shuffle_xor.f32 %q3, %d2, %c, %all
  %q4 = fadd.f32 %q3, %qd
  %qe = subgroup_shuffle_xor.f32 %q4, %d1, %c, %all
  %q5 = fadd.f32 %q4, %qe
  br_if %leads, ^leave_square, ^variance
^leave_square:
  store %q5, %squares[%sub]
  br ^variance
^variance:
  barrier
  br_if %has, ^take_square, ^add_squares(%none)
^take_square:
  %square = load %squares[%lane]
  br ^add_squares(%square)
^add_squares(%r0: f32):
  %ra = subgroup_shuffle_xor.f32 %r0, %d16, %c, %all
  %r1 = fadd.f32 %r0, %ra
  %rb = subgroup_shuffle_xor.f32 %r1, %d8, %c, %all
  %r2 = fadd.f32 %r1, %rb
  %rc = subgroup_shuffle_xor.f32 %r2, %d4, %c, %all
  %r3 = fadd.f32 %r2, %rc
  %rd = subgroup_shuffle_xor.f32 %r3, %d2, %c, %all
  %r4 = fadd.f32 %r3, %rd
  %re = subgroup_shuffle_xor.f32 %r4, %d1, %c, %all
  %r5 = fadd.f32 %r4, %re
  %variance = fdiv.f32 %r5, %length
  %above = fadd.f32 %variance, %epsilon
  %inverse = frsqrt.f32 %above
  br ^scale(%l)
^scale(%m: i32):
  %on = icmp.lt_u.i32 %m, %n
  br_if %on, ^scale_one, ^end
^scale_one:
  %to = add.i32 %start, %m
  %hm = load %x[%to wide]
  %fm = fcvt.f32 %hm
  %centred = fsub.f32 %fm, %mean
  %normal = fmul.f32 %centred, %inverse
  %hg = load %gamma[%m wide]
  %hb = load %beta[%m wide]
  %fg = fcvt.f32 %hg
  %fb = fcvt.f32 %hb
  %out = ffma.f32 %normal, %fg, %fb
  %half = fcvt.f16 %out
  store %half, %y[%to wide]
  %m1 = add.i32 %m, %size
  br ^scale(%m1)
^end:
  ret
}
; run: halu, ptx: @layernorm grid=2 block=32 n=40 epsilon=1e-5 x=[-3.34, 1.7, 0.17, -0.44, 3.9, 1.2, 0.18, 6.41, -0.48, -2.79, -3.12, -0.58, 2.98, 3.56, 4.42, 6.56, 6.17, 3, 5.08, 3.07, -0.59, 3.61, 1.32, 0.51, 7.18, 3.48, -0.31, 0.93, 8.24, 0.41, 3.39, 3.04, 2.72, 2.95, -0.3, -0.24, 0.68, 0.08, 3.62, 5.86, -1.53, 2.83, -1.81, -0.94, 0.44, 1.5, -0.16, -6.77, 5.38, 0.34, -0.77, 3.24, -0.65, -3.18, 2.66, 2.44, -1.35, 3.72, 2.3, -2.28, 6.49, 1.98, -2.29, 2.54, 1.55, 4.12, -2.94, 4.33, 4.03, 3.28, 3.02, 5.16, 3.35, 1.55, -1.38, 4.54, 4.15, 2.07, 1.63, 3.36] gamma=[0.25, 1.11, 0.26, 1.09, 1.34, 1.59, 0.87, 1.15, 0.99, 0.34, 1.24, 1.01, 1.04, 0.73, 1, 1.04, 1.4, 1.1, 2.08, 0.89, 0.93, 1, 0.77, 1.47, 1.21, 0.63, 1.05, 1.36, 0.58, 1.06, 0.94, 1.72, 1.14, 0.89, 0.84, 1.59, 0.87, 1.71, 0.54, 0.96] beta=[-0.06, -0.2, -0.05, 0.22, -0.19, -0.42, 0.42, 0.46, -0.2, 0.11, -0.77, 0.33, -0.39, -0.15, 0.67, -0.37, 0.02, -0.31, -0.55, -0.34, 0.1, -0.38, -0.17, 0.24, -0.03, -0.38, 0.47, 0.05, 0.44, -0.3, 0.53, -0.4, -0.52, -0.12, -0.1, 0.09, -0.16, 0.21, 0.42, -0.18] -> y~=[-0.5474, -0.361, -0.2302, -0.7734, 0.671, -0.9355, -0.1799, 2.232, -1.116, -0.4858, -3.09, -0.6406, -0.0643, 0.2301, 1.499, 1.288, 2.059, 0.0419, 1.663, -0.03278, -0.798, 0.1583, -0.3865, -0.5996, 2.168, -0.06995, -0.438, -0.5225, 1.714, -0.9434, 0.962, 0.1746, -0.2693, 0.1487, -0.823, -1.245, -0.604, -1.03, 0.7124, 1.109, -0.3218, 0.3682, -0.3481, -0.691, -0.649, -0.3623, -0.06476, -2.898, 1.209, -0.01868, -1.731, 0.9946, -1.151, -1.345, 1.121, 0.01672, -1.355, 0.6025, 0.1208, -1.51, 1.792, -0.172, -1.185, 0.839, 0.03534, 0.2329, -1.157, 1.475, 0.986, 0.412, 1.074, 1.912, 0.2747, -0.0719, -0.934, 1.874, 0.695, 0.6206, 0.4646, 0.4927] within(abs=1e-5, ulps=1)
; run: halu, ptx: @layernorm grid=1 block=64 n=70 epsilon=1e-5 x=[-3.04, -0.08, 3.63, 3.62, 0.08, -1.86, 1.08, 4.07, -1.03, 5.08, 1.82, 2.02, -0.77, 5.28, 1.27, -3.39, 3.62, -0.14, 4.41, 1.64, -0.77, 1.65, -0.36, -1.38, 1.2, 3.66, 1.35, 0.87, -0.55, 2.87, 1.96, 4.04, 2.24, 7.61, -3.64, 0.97, 2.75, 3.86, -3.53, -2.58, 1, 4.33, 4.47, -3.48, 1.53, 4.69, 1.21, -2, -1.05, -2.92, 4.75, 0.34, -0.17, -1.53, 0.71, -1.63, -1.84, 1, 0.43, 2.52, 1.57, 4.72, 0.99, 1.92, 1.81, -1.32, 4.73, -0.58, -3.67, 4.91] gamma=[1.21, 0.84, 1.3, 1.31, 1.23, 0.66, 1.07, 0.7, 0.83, 0.84, 0.76, 1.16, 0.77, 1.2, 1.06, 0.83, 1.06, 1.22, 1.36, 0.93, 1.54, 1.19, 1.39, 0.6, 0.69, 1.38, 0.94, 1.15, 1.38, 0.57, 1.15, 1.6, 1.25, 1.04, 1.18, 1.01, 1.25, 1.41, 0.94, 1.19, 1.1, 1.24, 1.27, 0.69, 1.36, 1.27, 0.68, 0.93, 0.57, 0.92, 1.11, 0.66, 0.78, 0.75, 0.8, 0.78, 0.69, 1.18, 0.95, 0.76, 1.31, 0.84, 1.28, 0.64, 1.44, 0.88, 0.73, 1.14, 0.61, 0.69] beta=[0.08, -0.13, 0.13, 0.05, 0.09, 0.05, 0.23, 0.01, 0.35, 0.3, -0.58, -0.52, 0.48, -0.12, 0.07, -0.02, 0.09, 0.68, -0.2, 0.03, 0.01, -0.31, -0.25, -0.07, 0.01, 0.13, -0.58, -0.46, 0.51, -0.04, 0.26, -0.12, -0.2, 0.65, -0.36, -0.26, 0.22, 0.02, -0.48, 0.05, 0.23, -0.45, -0.16, 0.25, 0.59, -0.69, -0.2, 0.02, -0.26, -0.26, -0.14, 0.17, -0.31, 0.27, 0.26, 0.27, 0.47, -0.15, 0, 0.31, 0.39, 0.29, -0.12, -0.14, -0.39, -0.12, -0.26, -0.14, -0.1, 0.26] -> y~=[-1.835, -0.509, 1.389, 1.3125, -0.39, -0.6973, 0.222, 0.8057, -0.3262, 1.578, -0.3706, -0.11176, -0.0707, 1.8, 0.1389, -1.445, 1.111, 0.10187, 1.522, 0.2222, -1.091, -0.0592, -1.025, -0.639, 0.0366, 1.481, -0.4902, -0.561, -0.3608, 0.3457, 0.6387, 1.679, 0.3455, 3.24, -2.498, -0.3098, 1.009, 1.509, -2.145, -1.625, 0.1881, 1.082, 1.477, -0.9585, 0.814, 1.055, -0.1713, -1.083, -0.7285, -1.675, 1.41, -0.02171, -0.6885, -0.4844, 0.1409, -0.544, -0.3057, -0.195, -0.2433, 0.7227, 0.626, 1.453, -0.1735, 0.06088, 0.001355, -0.9346, 0.754, -0.872, -1.213, 1.266] within(abs=1e-5, ulps=1)
; run: halu, ptx: @layernorm grid=2 block=96 n=3 epsilon=1e-5 x=[3.69, 0.96, -2.33, 0.95, 2.41, 3.68] gamma=[1.07, 1.25, 0.81] beta=[0.21, 0.23, -0.1] -> y~=[1.479, 0.325, -1.121, -1.13, 0.301, 0.868] within(abs=1e-5, ulps=1)
