; test: lower halu passes=slp
; Sums in 16 bits have the low bits of sums of bytes.
kernel @sums(%x: in i8 align 4, %y: in i8 align 4, %z: out i8 align 4) {
^entry:
  %i = item_id
  %two = const.i32 2
  %j = shl.i32 %i, %two
  %a = load %x[%j]
  %b = load %x[%j + 1]
  %c = load %x[%j + 2]
  %d = load %x[%j + 3]
  %e = load %y[%j]
  %f = load %y[%j + 1]
  %g = load %y[%j + 2]
  %h = load %y[%j + 3]
  %a1 = zext.i16 %a
  %b1 = zext.i16 %b
  %c1 = zext.i16 %c
  %d1 = zext.i16 %d
  %e1 = zext.i16 %e
  %f1 = zext.i16 %f
  %g1 = zext.i16 %g
  %h1 = zext.i16 %h
  %s0 = add.i16 %a1, %e1
  %s1 = add.i16 %b1, %f1
  %s2 = add.i16 %c1, %g1
  %s3 = add.i16 %h1, %d1
  %t0 = trunc.i8 %s0
  %t1 = trunc.i8 %s1
  %t2 = trunc.i8 %s2
  %t3 = trunc.i8 %s3
  store %t0, %z[%j]
  store %t1, %z[%j + 1]
  store %t2, %z[%j + 2]
  store %t3, %z[%j + 3]
  ret
}
; check: [[X:%[0-9]+]] = load.i8x4 %x
; next: [[Y:%[0-9]+]] = load.i8x4 %y
; next: [[S:%[0-9]+]] = add.i8x4 [[X]], [[Y]]
; next: store.i8x4 [[S]], %z
; never: i16

; Bytes of two words, which shifts and masks take, and their averages, which shifts and `or` join.
kernel @averages(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %one = const.i32 1
  %eight = const.i32 8
  %sixteen = const.i32 16
  %far = const.i32 24
  %byte = const.i32 255
  %v0 = and.i32 %v, %byte
  %w0 = and.i32 %w, %byte
  %v1 = shr_u.i32 %v, %eight
  %v2 = and.i32 %v1, %byte
  %w1 = shr_u.i32 %w, %eight
  %w2 = and.i32 %w1, %byte
  %v3 = shr_u.i32 %v, %sixteen
  %v4 = and.i32 %v3, %byte
  %w3 = shr_u.i32 %w, %sixteen
  %w4 = and.i32 %w3, %byte
  %v5 = shr_u.i32 %v, %far
  %w5 = shr_u.i32 %w, %far
  %a0 = add.i32 %v0, %w0
  %b0 = add.i32 %a0, %one
  %c0 = shr_u.i32 %b0, %one
  %a1 = add.i32 %v2, %w2
  %b1 = add.i32 %a1, %one
  %c1 = shr_u.i32 %b1, %one
  %a2 = add.i32 %v4, %w4
  %b2 = add.i32 %a2, %one
  %c2 = shr_u.i32 %b2, %one
  %a3 = add.i32 %v5, %w5
  %b3 = add.i32 %a3, %one
  %c3 = shr_u.i32 %b3, %one
  %d1 = shl.i32 %c1, %eight
  %d2 = shl.i32 %c2, %sixteen
  %d3 = shl.i32 %c3, %far
  %e1 = or.i32 %c0, %d1
  %e2 = or.i32 %e1, %d2
  %e3 = or.i32 %d3, %e2
  store %e3, %z[%i]
  ret
}
; check: bitcast.i8x4 %v
; next: bitcast.i8x4 %w
; next: avg_u.i8x4
; next: bitcast.i32
; next: store
; never: shr_u

; The sum of signed bytes has other bits, which a shift brings down: it is no average of bytes.
kernel @wide_average(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %one = const.i32 1
  %a0 = split.i16 %v, 0
  %a1 = split.i16 %v, 1
  %b0 = split.i16 %w, 0
  %b1 = split.i16 %w, 1
  %x0 = sext.i32 %a0
  %x1 = sext.i32 %a1
  %y0 = sext.i32 %b0
  %y1 = sext.i32 %b1
  %s0 = add.i32 %x0, %y0
  %s1 = add.i32 %x1, %y1
  %t0 = add.i32 %s0, %one
  %t1 = add.i32 %s1, %one
  %h0 = shr_s.i32 %t0, %one
  %h1 = shr_s.i32 %t1, %one
  %r0 = trunc.i16 %h0
  %r1 = trunc.i16 %h1
  %r = concat.i32 %r0, %r1
  store %r, %z[%i]
  ret
}
; never: avg

; Halves of registers, computed one by one, are computed in the registers.
kernel @halves(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i16 %v, 0
  %a1 = split.i16 %v, 1
  %b0 = split.i16 %w, 0
  %b1 = split.i16 %w, 1
  %p0 = bitcast.f16 %a0
  %p1 = bitcast.f16 %a1
  %q0 = bitcast.f16 %b0
  %q1 = bitcast.f16 %b1
  %s0 = fadd.f16 %p0, %q0
  %s1 = fadd.f16 %p1, %q1
  %t0 = bitcast.i16 %s0
  %t1 = bitcast.i16 %s1
  %r = concat.i32 %t0, %t1
  store %r, %z[%i]
  ret
}
; check: bitcast.f16x2 %v
; next: bitcast.f16x2 %w
; next: fadd.f16x2
; next: bitcast.i32
; never: split

; Lanes in another order come by one shuffle.
kernel @crossed(%x: in f16x2, %y: in f16x2, %z: out f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = extract.f16x2 %v, 0
  %a1 = extract.f16x2 %v, 1
  %b0 = extract.f16x2 %w, 0
  %b1 = extract.f16x2 %w, 1
  %s0 = fmul.f16 %a0, %b1
  %s1 = fmul.f16 %a1, %b0
  %r = concat.f16x2 %s0, %s1
  store %r, %z[%i]
  ret
}
; check: shuffle.i16x2 {{.*}}, [1, 0]
; check: fmul.f16x2 %v,

; A difference of 16 bits wraps, so its absolute value is not the distance. It is computed as it stands.
kernel @wrapped(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i16 %v, 0
  %a1 = split.i16 %v, 1
  %b0 = split.i16 %w, 0
  %b1 = split.i16 %w, 1
  %s0 = sub.i16 %a0, %b0
  %s1 = sub.i16 %a1, %b1
  %t0 = abs.i16 %s0
  %t1 = abs.i16 %s1
  %r = concat.i32 %t0, %t1
  store %r, %z[%i]
  ret
}
; check: sub.i16x2
; next: abs.i16x2
; never: absdiff

; A comparison of the lanes of registers selects the lanes of a mask.
kernel @greater(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %zero = const.i32 0
  %low = const.i32 0xffff
  %high = const.i32 0xffff0000
  %sixteen = const.i32 16
  %a0 = and.i32 %v, %low
  %b0 = and.i32 %w, %low
  %a1 = shr_u.i32 %v, %sixteen
  %b1 = shr_u.i32 %w, %sixteen
  %c0 = icmp.gt_u.i32 %a0, %b0
  %c1 = icmp.gt_u.i32 %a1, %b1
  %m0 = select.i32 %c0, %low, %zero
  %m1 = select.i32 %c1, %high, %zero
  %r = or.i32 %m0, %m1
  store %r, %z[%i]
  ret
}
; check: [[M:%[0-9]+]] = icmp.gt_u.i16x2
; next: mask_expand.i16x2 [[M]]
; never: select

; The comparison of one lane is signed, of the other unsigned.
kernel @unlike(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i16 %v, 0
  %a1 = split.i16 %v, 1
  %b0 = split.i16 %w, 0
  %b1 = split.i16 %w, 1
  %r0 = max_u.i16 %a0, %b0
  %r1 = max_s.i16 %a1, %b1
  %r = concat.i32 %r0, %r1
  store %r, %z[%i]
  ret
}
; never: i16x2

; A carry out of the low half comes into the high one: the sum of the words is no sum of halves. One shuffle joins the halves.
kernel @carried(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %low = const.i32 0xffff
  %high = const.i32 0xffff0000
  %a = add.i32 %v, %w
  %b = sub.i32 %v, %w
  %p = and.i32 %a, %high
  %q = and.i32 %b, %low
  %r = or.i32 %p, %q
  store %r, %z[%i]
  ret
}
; check: add.i32
; next: sub.i32
; check: shuffle.i16x2 {{.*}}, [0, 3]
; never: add.i16x2

; A selection of the greater lane is a maximum, whether the condition is written as it stands or as its opposite.
kernel @extremes(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %high = const.i32 0xffff0000
  %sixteen = const.i32 16
  %a0 = trunc.i16 %v
  %b0 = trunc.i16 %w
  %p0 = sext.i32 %a0
  %q0 = sext.i32 %b0
  %c0 = icmp.gt_s.i32 %p0, %q0
  %m0 = select.i32 %c0, %v, %w
  %p1 = and.i32 %v, %high
  %q1 = and.i32 %w, %high
  %c1 = icmp.lt_s.i32 %p1, %q1
  %m1 = select.i32 %c1, %q1, %p1
  %s1 = shr_u.i32 %m1, %sixteen
  %r0 = trunc.i16 %m0
  %r1 = trunc.i16 %s1
  %r = concat.i32 %r0, %r1
  store %r, %z[%i]
  ret
}
; check: max_s.i16x2
; never: select

; The lanes are compared with each other, but others are selected.
kernel @chosen(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i16 %v, 0
  %a1 = split.i16 %v, 1
  %b0 = split.i16 %w, 0
  %b1 = split.i16 %w, 1
  %c0 = icmp.gt_s.i16 %a0, %b0
  %c1 = icmp.gt_s.i16 %b1, %a1
  %m0 = select.i16 %c0, %a0, %b0
  %m1 = select.i16 %c1, %a1, %b1
  %r = concat.i32 %m0, %m1
  store %r, %z[%i]
  ret
}
; never: i16x2

; Absolute differences of bytes, added up.
kernel @distances(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i8 %v, 0
  %a1 = split.i8 %v, 1
  %a2 = split.i8 %v, 2
  %a3 = split.i8 %v, 3
  %b0 = split.i8 %w, 0
  %b1 = split.i8 %w, 1
  %b2 = split.i8 %w, 2
  %b3 = split.i8 %w, 3
  %p0 = zext.i32 %a0
  %p1 = zext.i32 %a1
  %p2 = zext.i32 %a2
  %p3 = zext.i32 %a3
  %q0 = zext.i32 %b0
  %q1 = zext.i32 %b1
  %q2 = zext.i32 %b2
  %q3 = zext.i32 %b3
  %d0 = sub.i32 %p0, %q0
  %d1 = sub.i32 %p1, %q1
  %d2 = sub.i32 %p2, %q2
  %d3 = sub.i32 %q3, %p3
  %e0 = abs.i32 %d0
  %e1 = abs.i32 %d1
  %e2 = abs.i32 %d2
  %e3 = abs.i32 %d3
  %s1 = add.i32 %e0, %e1
  %s2 = add.i32 %e3, %s1
  %s3 = add.i32 %s2, %i
  %s4 = add.i32 %s3, %e2
  store %s4, %z[%i]
  ret
}
; check: [[V:%[0-9]+]] = bitcast.i8x4 %v
; next: [[W:%[0-9]+]] = bitcast.i8x4 %w
; next: sad_u.i8x4 [[V]], [[W]], %i
; never: abs.i32

; Three distances are no sum of four.
kernel @three(%x: in i32, %y: in i32, %z: out i32) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %w = load %y[%i]
  %a0 = split.i8 %v, 0
  %a1 = split.i8 %v, 1
  %a2 = split.i8 %v, 2
  %b0 = split.i8 %w, 0
  %b1 = split.i8 %w, 1
  %b2 = split.i8 %w, 2
  %p0 = zext.i32 %a0
  %p1 = zext.i32 %a1
  %p2 = zext.i32 %a2
  %q0 = zext.i32 %b0
  %q1 = zext.i32 %b1
  %q2 = zext.i32 %b2
  %d0 = absdiff_s.i32 %p0, %q0
  %d1 = absdiff_s.i32 %p1, %q1
  %d2 = absdiff_s.i32 %p2, %q2
  %s1 = add.i32 %d0, %d1
  %s2 = add.i32 %s1, %d2
  store %s2, %z[%i]
  ret
}
; never: i8x4
