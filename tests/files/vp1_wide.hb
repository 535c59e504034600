; test: asm vp1
; Wide lanes are there as sums of products that the accumulator holds exactly, and narrowed as they are read from it: products
; of vectors one by one, of vectors and factors in pairs, and what lies between two vectors at once.
kernel @products(%a: in i8x16, %b: in i8x16, %c: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %p = mul_wide_s.i8x16 %va, %vb
  %q = mul_wide_s.i8x16 %vb, %vc
  %p32 = sext.i32x16 %p
  %q32 = sext.i32x16 %q
  %s = add.i32x16 %p32, %q32
  %8 = const.i32x16 8
  %h = round_shr_s.i32x16 %s, %8
  %n = narrow_sat_s.i16x16 %h
  %r = narrow_sat_s.i8x16 %n
  store %r, %y[%i]
  ret
}
; run: vp1: @products items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) y=zeros(503)

; Half way between pixels: 1, -5, 20, 20, -5 and 1 thirty-seconds of six neighbours.
kernel @six(%a: in i8x16, %b: in i8x16, %c: in i8x16, %d: in i8x16, %e: in i8x16, %f: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vc = load %c[%i]
  %vd = load %d[%i]
  %ve = load %e[%i]
  %vf = load %f[%i]
  %wa = zext.i16x16 %va
  %wb = zext.i16x16 %vb
  %wc = zext.i16x16 %vc
  %wd = zext.i16x16 %vd
  %we = zext.i16x16 %ve
  %wf = zext.i16x16 %vf
  %5 = const.i16x16 5
  %20 = const.i16x16 20
  %outer = add.i16x16 %wa, %wf
  %next = add.i16x16 %wb, %we
  %inner = add.i16x16 %wc, %wd
  %n5 = mul.i16x16 %next, %5
  %i20 = mul.i16x16 %inner, %20
  %s = sub.i16x16 %i20, %n5
  %t = add.i16x16 %s, %outer
  %h = round_shr_s.i16x16 %t, %5
  %r = narrow_sat_u.i8x16 %h
  store %r, %y[%i]
  ret
}
; run: vp1: @six items=503 a=random(503, 1) b=random(503, 2) c=random(503, 3) d=random(503, 4) e=random(503, 5) f=random(503, 6) y=zeros(503)

kernel @between(%a: in i8x16, %b: in i8x16, %w: in i8x16, %y: out i8x16) {
^entry:
  %i = item_id
  %va = load %a[%i]
  %vb = load %b[%i]
  %vw = load %w[%i]
  %ea = zext.i32x16 %va
  %eb = zext.i32x16 %vb
  %ew = zext.i32x16 %vw
  %d = sub.i32x16 %eb, %ea
  %m = mul.i32x16 %d, %ew
  %8 = const.i32x16 8
  %h = shr_s.i32x16 %m, %8
  %s = add.i32x16 %ea, %h
  %r = trunc.i8x16 %s
  store %r, %y[%i]
  ret
}
; run: vp1: @between items=503 a=random(503, 1) b=random(503, 2) w=random(503, 3) y=zeros(503)
