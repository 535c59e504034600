; A row of activations, divided by the root of its mean square and scaled by a gain a column: how newer language models
; normalise. The sum of squares is of 32 bits, everything else in halves. An item takes a row of `length` groups of four
; words, at least one.
kernel @rms_norm(%length: i32, %epsilon: f32, %x: in f16x2 align 16, %gain: in f16x2 align 16, %y: out f16x2 align 16) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %four = const.i32 4
  %eight = const.i32 8
  %none = const.f32 0
  %unit = const.f32 1
  %groups = mul.i32 %i, %length
  %start = mul.i32 %groups, %four
  %numbers = mul.i32 %length, %eight
  %n = fcvt_from_s.f32 %numbers
  br ^square(%zero, %start, %none)
^square(%k: i32, %at: i32, %q0: f32):
  %x0 = load %x[%at]
  %x1 = load %x[%at + 1]
  %x2 = load %x[%at + 2]
  %x3 = load %x[%at + 3]
  %l0 = extract.f16x2 %x0, 0
  %h0 = extract.f16x2 %x0, 1
  %a0 = fcvt.f32 %l0
  %b0 = fcvt.f32 %h0
  %p0 = ffma.f32 %a0, %a0, %q0
  %q1 = ffma.f32 %b0, %b0, %p0
  %l1 = extract.f16x2 %x1, 0
  %h1 = extract.f16x2 %x1, 1
  %a1 = fcvt.f32 %l1
  %b1 = fcvt.f32 %h1
  %p1 = ffma.f32 %a1, %a1, %q1
  %q2 = ffma.f32 %b1, %b1, %p1
  %l2 = extract.f16x2 %x2, 0
  %h2 = extract.f16x2 %x2, 1
  %a2 = fcvt.f32 %l2
  %b2 = fcvt.f32 %h2
  %p2 = ffma.f32 %a2, %a2, %q2
  %q3 = ffma.f32 %b2, %b2, %p2
  %l3 = extract.f16x2 %x3, 0
  %h3 = extract.f16x2 %x3, 1
  %a3 = fcvt.f32 %l3
  %b3 = fcvt.f32 %h3
  %p3 = ffma.f32 %a3, %a3, %q3
  %q4 = ffma.f32 %b3, %b3, %p3
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %four
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^square(%k1, %at1, %q4), ^root
^root:
  %mean = fdiv.f32 %q4, %n
  %above = fadd.f32 %mean, %epsilon
  %r = fsqrt.f32 %above
  %inverse = fdiv.f32 %unit, %r
  %s = fcvt.f16 %inverse
  %ss = splat.f16x2 %s
  br ^scale(%zero, %zero, %start)
^scale(%j: i32, %column: i32, %to: i32):
  %v0 = load %x[%to]
  %g0 = load %gain[%column]
  %v1 = load %x[%to + 1]
  %g1 = load %gain[%column + 1]
  %v2 = load %x[%to + 2]
  %g2 = load %gain[%column + 2]
  %v3 = load %x[%to + 3]
  %g3 = load %gain[%column + 3]
  %w0 = fmul.f16x2 %v0, %ss
  %y0 = fmul.f16x2 %w0, %g0
  %w1 = fmul.f16x2 %v1, %ss
  %y1 = fmul.f16x2 %w1, %g1
  %w2 = fmul.f16x2 %v2, %ss
  %y2 = fmul.f16x2 %w2, %g2
  %w3 = fmul.f16x2 %v3, %ss
  %y3 = fmul.f16x2 %w3, %g3
  store %y0, %y[%to]
  store %y1, %y[%to + 1]
  store %y2, %y[%to + 2]
  store %y3, %y[%to + 3]
  %j1 = add.i32 %j, %one
  %column1 = add.i32 %column, %four
  %to1 = add.i32 %to, %four
  %on = icmp.lt_s.i32 %j1, %length
  br_if %on, ^scale(%j1, %column1, %to1), ^done
^done:
  ret
}

; run: halu, ptx: @rms_norm items=2 length=1 epsilon=1e-5 x=[[1, -1], [2, -2], [3, -3], [4, -4], [0.5, 0], [0, 0], [0, 0], [0, 100]] gain=[[1, 1], [1, 1], [2, 2], [0.5, -1]] y=zeros(8) -> y=[0xb5d835d8, 0xb9d839d8, 0xc0624062, 0x3dd839d8, 0x0000233e, 0x00000000, 0x00000000, 0xc1a80000]
; run: halu, ptx: @rms_norm items=40 length=3 epsilon=1e-6 x=random(480, 471) gain=random(12, 472) y=zeros(480)

; Eight rows of 64 numbers as they come between the layers of a network.
; run: halu, ptx: @rms_norm items=8 length=8 epsilon=1e-5 x=@activations.npy gain=@activations-gain.npy y=zeros(256) -> y=@activations-rms.npy
