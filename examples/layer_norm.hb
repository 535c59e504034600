; What ends each half of a transformer's layer: a row of activations, with its bias and what went round the layer added,
; is shifted and scaled so that its mean is 0 and its variance 1, and then by a gain and a shift a column. Sums are of 32
; bits; everything else is in halves, or in bfloat16.
;
; An item takes a row of `length` words, at least one. The sums go to %y first and are normalised there.
kernel @layer_norm(%length: i32, %epsilon: f32, %x: in f16x2, %residual: in f16x2, %bias: in f16x2, %gain: in f16x2,
                   %shift: in f16x2, %y: inout f16x2) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.f32 0
  %unit = const.f32 1
  %start = mul.i32 %i, %length
  %numbers = add.i32 %length, %length
  %n = fcvt_from_s.f32 %numbers
  br ^add(%zero, %start, %none, %none)
^add(%k: i32, %at: i32, %sum: f32, %squares: f32):
  %xk = load %x[%at]
  %rk = load %residual[%at]
  %bk = load %bias[%k]
  %xb = fadd.f16x2 %xk, %bk
  %v = fadd.f16x2 %xb, %rk
  store %v, %y[%at]
  %lo = extract.f16x2 %v, 0
  %hi = extract.f16x2 %v, 1
  %a = fcvt.f32 %lo
  %b = fcvt.f32 %hi
  %sum_a = fadd.f32 %sum, %a
  %sum_b = fadd.f32 %sum_a, %b
  %squares_a = ffma.f32 %a, %a, %squares
  %squares_b = ffma.f32 %b, %b, %squares_a
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %one
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^add(%k1, %at1, %sum_b, %squares_b), ^moments
^moments:
  %mean = fdiv.f32 %sum_b, %n
  %mean_square = fdiv.f32 %squares_b, %n
  %square_mean = fmul.f32 %mean, %mean
  %difference = fsub.f32 %mean_square, %square_mean
  %negative = fcmp.lt.f32 %difference, %none
  %variance = select.f32 %negative, %none, %difference
  %above = fadd.f32 %variance, %epsilon
  %deviation = fsqrt.f32 %above
  %inverse = fdiv.f32 %unit, %deviation
  %m = fcvt.f16 %mean
  %s = fcvt.f16 %inverse
  %mm = splat.f16x2 %m
  %ss = splat.f16x2 %s
  br ^scale(%zero, %start)
^scale(%j: i32, %to: i32):
  %w = load %y[%to]
  %g = load %gain[%j]
  %h = load %shift[%j]
  %centred = fsub.f16x2 %w, %mm
  %normal = fmul.f16x2 %centred, %ss
  %r = ffma.f16x2 %normal, %g, %h
  store %r, %y[%to]
  %j1 = add.i32 %j, %one
  %to1 = add.i32 %to, %one
  %on = icmp.lt_s.i32 %j1, %length
  br_if %on, ^scale(%j1, %to1), ^done
^done:
  ret
}

kernel @layer_norm_bf16(%length: i32, %epsilon: f32, %x: in bf16x2, %residual: in bf16x2, %bias: in bf16x2, %gain: in bf16x2,
                   %shift: in bf16x2, %y: inout bf16x2) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %none = const.f32 0
  %unit = const.f32 1
  %start = mul.i32 %i, %length
  %numbers = add.i32 %length, %length
  %n = fcvt_from_s.f32 %numbers
  br ^add(%zero, %start, %none, %none)
^add(%k: i32, %at: i32, %sum: f32, %squares: f32):
  %xk = load %x[%at]
  %rk = load %residual[%at]
  %bk = load %bias[%k]
  %xb = fadd.bf16x2 %xk, %bk
  %v = fadd.bf16x2 %xb, %rk
  store %v, %y[%at]
  %lo = extract.bf16x2 %v, 0
  %hi = extract.bf16x2 %v, 1
  %a = fcvt.f32 %lo
  %b = fcvt.f32 %hi
  %sum_a = fadd.f32 %sum, %a
  %sum_b = fadd.f32 %sum_a, %b
  %squares_a = ffma.f32 %a, %a, %squares
  %squares_b = ffma.f32 %b, %b, %squares_a
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %one
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^add(%k1, %at1, %sum_b, %squares_b), ^moments
^moments:
  %mean = fdiv.f32 %sum_b, %n
  %mean_square = fdiv.f32 %squares_b, %n
  %square_mean = fmul.f32 %mean, %mean
  %difference = fsub.f32 %mean_square, %square_mean
  %negative = fcmp.lt.f32 %difference, %none
  %variance = select.f32 %negative, %none, %difference
  %above = fadd.f32 %variance, %epsilon
  %deviation = fsqrt.f32 %above
  %inverse = fdiv.f32 %unit, %deviation
  %m = fcvt.bf16 %mean
  %s = fcvt.bf16 %inverse
  %mm = splat.bf16x2 %m
  %ss = splat.bf16x2 %s
  br ^scale(%zero, %start)
^scale(%j: i32, %to: i32):
  %w = load %y[%to]
  %g = load %gain[%j]
  %h = load %shift[%j]
  %centred = fsub.bf16x2 %w, %mm
  %normal = fmul.bf16x2 %centred, %ss
  %r = ffma.bf16x2 %normal, %g, %h
  store %r, %y[%to]
  %j1 = add.i32 %j, %one
  %to1 = add.i32 %to, %one
  %on = icmp.lt_s.i32 %j1, %length
  br_if %on, ^scale(%j1, %to1), ^done
^done:
  ret
}

; run: halu, ptx: @layer_norm items=2 length=2 epsilon=1e-5 x=[[1, 2], [3, 4], [0.5, -0.5], [8, -8]] residual=[[0, 0], [0, 0], [1, 1], [-1, -1]] bias=[[0, 0.25], [0, 0]] gain=[[1, 1], [2, -1]] shift=[[0, 1], [0, 0.5]] y=zeros(4) -> y=[0x39b8bdb5, 0xba803a64, 0x3c7a33fc, 0x402640d1]
; run: halu, ptx: @layer_norm_bf16 items=2 length=2 epsilon=1e-5 x=[[1, 2], [3, 4], [0.5, -0.5], [8, -8]] residual=[[0, 0], [0, 0], [1, 1], [-1, -1]] bias=[[0, 0.25], [0, 0]] gain=[[1, 1], [2, -1]] shift=[[0, 1], [0, 0.5]] y=zeros(4) -> y=[0x3f37bfb7, 0xbf503f4d, 0x3f8f3e80, 0x4005401a]
; run: halu, ptx: @layer_norm items=40 length=9 epsilon=1e-5 x=random(360, 401) residual=random(360, 402) bias=random(9, 403) gain=random(9, 404) shift=random(9, 405) y=zeros(360)
; run: halu, ptx: @layer_norm_bf16 items=40 length=9 epsilon=1e-5 x=random(360, 406) residual=random(360, 407) bias=random(9, 408) gain=random(9, 409) shift=random(9, 410) y=zeros(360)

; Eight rows of 64 numbers as they come between the layers of a network.
; run: halu, ptx: @layer_norm items=8 length=32 epsilon=1e-5 x=@activations.npy residual=@activations-residual.npy bias=@activations-bias.npy gain=@activations-gain.npy shift=@activations-shift.npy y=zeros(256) -> y=@activations-normal.npy
