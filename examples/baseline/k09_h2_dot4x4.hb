; Four rows of eight halves times a column of eight: a part of a matrix product. The
; lanes of a word hold two sums, which are rounded at every step and added at the end.
; Each item reads 16 words of rows and four words of the column, and writes four halves.
kernel @k09_h2_dot4x4(%a: in f16x2 align 16, %b: in f16x2 align 16, %c: out f16x2 align 8) {
^entry:
  %i = item_id
  %two = const.i32 2
  %four = const.i32 4
  %sixteen = const.i32 16
  %j = mul.i32 %i, %four
  %k = mul.i32 %i, %sixteen
  %l = mul.i32 %i, %two
  %b0 = load %b[%j]
  %b1 = load %b[%j + 1]
  %b2 = load %b[%j + 2]
  %b3 = load %b[%j + 3]
  %a0 = load %a[%k]
  %a1 = load %a[%k + 1]
  %a2 = load %a[%k + 2]
  %a3 = load %a[%k + 3]
  %a4 = load %a[%k + 4]
  %a5 = load %a[%k + 5]
  %a6 = load %a[%k + 6]
  %a7 = load %a[%k + 7]
  %a8 = load %a[%k + 8]
  %a9 = load %a[%k + 9]
  %a10 = load %a[%k + 10]
  %a11 = load %a[%k + 11]
  %a12 = load %a[%k + 12]
  %a13 = load %a[%k + 13]
  %a14 = load %a[%k + 14]
  %a15 = load %a[%k + 15]

  %p00 = fmul.f16x2 %a0, %b0
  %p01 = ffma.f16x2 %a1, %b1, %p00
  %p02 = ffma.f16x2 %a2, %b2, %p01
  %p03 = ffma.f16x2 %a3, %b3, %p02
  %x0 = extract.f16x2 %p03, 0
  %y0 = extract.f16x2 %p03, 1
  %s0 = fadd.f16 %x0, %y0

  %p10 = fmul.f16x2 %a4, %b0
  %p11 = ffma.f16x2 %a5, %b1, %p10
  %p12 = ffma.f16x2 %a6, %b2, %p11
  %p13 = ffma.f16x2 %a7, %b3, %p12
  %x1 = extract.f16x2 %p13, 0
  %y1 = extract.f16x2 %p13, 1
  %s1 = fadd.f16 %x1, %y1

  %p20 = fmul.f16x2 %a8, %b0
  %p21 = ffma.f16x2 %a9, %b1, %p20
  %p22 = ffma.f16x2 %a10, %b2, %p21
  %p23 = ffma.f16x2 %a11, %b3, %p22
  %x2 = extract.f16x2 %p23, 0
  %y2 = extract.f16x2 %p23, 1
  %s2 = fadd.f16 %x2, %y2

  %p30 = fmul.f16x2 %a12, %b0
  %p31 = ffma.f16x2 %a13, %b1, %p30
  %p32 = ffma.f16x2 %a14, %b2, %p31
  %p33 = ffma.f16x2 %a15, %b3, %p32
  %x3 = extract.f16x2 %p33, 0
  %y3 = extract.f16x2 %p33, 1
  %s3 = fadd.f16 %x3, %y3

  %lo = concat.f16x2 %s0, %s1
  %hi = concat.f16x2 %s2, %s3
  store %lo, %c[%l]
  store %hi, %c[%l + 1]
  ret
}

; run: halu, ptx: @k09_h2_dot4x4 items=2 a=[[-0.625, 3], [3.75, -1.75], [-3.125, 0.875], [1.375, 2.25], [1.125, 1.75], [3.375, 3.375], [3.5, 2.875], [1.75, 3.375], [-4, -3.875], [2.375, -0.5], [2, -0.125], [3.25, -3.5], [1.375, -4], [-2.875, 2.625], [-1.625, 3.875], [-1.25, 2.25], [1.25, -0.5], [1.292, 0.5415], [1.25, -0.5415], [0.04166, 0.6665], [1.25, -0.5835], [-0.04166, 0.75], [0.9165, 1.333], [-0.7915, 1.333], [-1.042, 1.042], [1, 1.125], [1, 0.5835], [0.2084, 0.1666], [-1.125, 1.167], [1.125, -1.125], [0.25, -0.3333], [0.6665, 0.2917]] b=[[0.75, -0.125], [-3.125, 2.375], [3.125, -2.5], [-0.25, -3.5], [-0.5, -3], [-0.75, 3.75], [-2.875, -3], [1.625, -2.25]] c=zeros(4) -> c=[0xc934d09c, 0xc59446e0, 0xc6f4bddc, 0xc74bc398]
; run: halu, ptx: @k09_h2_dot4x4 items=300 a=random(4800, 16) b=random(1200, 17) c=zeros(600)
