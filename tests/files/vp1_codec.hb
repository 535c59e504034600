; test: asm vp1
; What instructions for video do of several ops: nine bits added, a byte held between two, the lesser absolute value, and
; differences compared one after another.
kernel @nine(%a: in i8x16, %d: in i16, %y: out i8x16) {
^entry:
  %i = item_id
  %2 = const.i32 2
  %k = mul.i32 %i, %2
  %p = load %a[%i]
  %low = load.i8x16 %d[%k] step 16
  %high = load.i8x16 %d[%k + 1] step 16
  %h = concat.i16x16 %low, %high
  %7 = const.i16x16 7
  %u = shl.i16x16 %h, %7
  %n = shr_s.i16x16 %u, %7
  %w = zext.i16x16 %p
  %s = add.i16x16 %w, %n
  %r = narrow_sat_u.i8x16 %s
  store %r, %y[%i]
  ret
}
; run: vp1: @nine items=503 a=random(503, 1) d=random(8048, 2) y=zeros(503)

kernel @step(%a: in i8x16, %b: in i8x16, %c: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %abs1 = abs.i8x16 %va
  %abs2 = abs.i8x16 %vb
  %least = min_u.i8x16 %abs1, %abs2
  %127 = const.i8x16 127
  %limit = min_u.i8x16 %least, %127
  %neg = neg.i8x16 %limit
  %from = max_s.i8x16 %vc, %neg
  %r = min_s.i8x16 %from, %limit
  store %r, %y[%i]
  ret
}
; run: vp1: @step items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) y=zeros(503)

kernel @close(%a: in i8x16, %b: in i8x16, %c: in i8x16, %near: i8, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %vn = splat.i8x16 %near
  %ab = absdiff_u.i8x16 %va, %vb
  %bc = absdiff_u.i8x16 %vb, %vc
  %ca = absdiff_u.i8x16 %vc, %va
  %n1 = icmp.lt_u.i8x16 %ab, %vn
  %n2 = icmp.lt_u.i8x16 %bc, %vn
  %n3 = icmp.ge_u.i8x16 %ca, %vn
  %m12 = and.i1x16 %n1, %n2
  %m = or.i1x16 %m12, %n3
  %r = select.i8x16 %m, %va, %vb
  store %r, %y[%i]
  ret
}
; run: vp1: @close items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) near=90 y=zeros(503)
