; A row of attention, as weights that are 1 in sum: scores are scaled, those that the mask leaves out go far below, and e
; to the power of what they are less than the greatest is divided by the sum of all of these.
;
; e^x is 2^n 2^f, with n the whole number next to x / ln 2 and a polynomial for 2^f. Adding 1536, which is so large that a
; half has no room for a fraction beside it, rounds to n and leaves it in the low bits, from where a shift brings it into
; the exponent. Numbers of 2^-14 and less become 0.
;
; An item takes a row of `length` words of two halves, at least one. A mask is 1 for scores that count and 0 for others.
; The powers go to %weights first and are divided there; their sum is of 32 bits.
kernel @softmax(%length: i32, %scale: f16x2, %scores: in f16x2, %mask: in f16x2, %weights: inout f16x2) {
^entry:
  %i = item_id
  %zero = const.i32 0
  %one = const.i32 1
  %start = mul.i32 %i, %length
  %far = const.f16x2 10000
  %minus_far = const.f16x2 -10000
  %lowest = const.f16x2 -inf
  br ^mask(%zero, %start, %lowest)
^mask(%k: i32, %at: i32, %most: f16x2):
  %score = load %scores[%at]
  %counts = load %mask[%at]
  %below = ffma.f16x2 %counts, %far, %minus_far
  %s = ffma.f16x2 %score, %scale, %below
  store %s, %weights[%at]
  %most1 = fmax.f16x2 %most, %s
  %k1 = add.i32 %k, %one
  %at1 = add.i32 %at, %one
  %more = icmp.lt_s.i32 %k1, %length
  br_if %more, ^mask(%k1, %at1, %most1), ^powers
^powers:
  %turned = shuffle.f16x2 %most1, %most1, [1, 0]
  %greatest = fmax.f16x2 %most1, %turned
  %none = const.f32 0
  %log2e = const.f16x2 1.4427
  %least = const.f16x2 -14
  %rounder = const.f16x2 1536

  ; The exponents' bias, 15, less the bits of 1536.
  %exponent = const.i16x2 [0x9a0f, 0x9a0f]
  %ten = const.i16x2 10
  %c0 = const.f16x2 1
  %c1 = const.f16x2 0.693
  %c2 = const.f16x2 0.2427
  %c3 = const.f16x2 0.056
  br ^power(%zero, %start, %none)
^power(%j: i32, %of: i32, %sum: f32):
  %t = load %weights[%of]
  %distance = fsub.f16x2 %t, %greatest
  %x = fmul.f16x2 %distance, %log2e
  %seen = fset.gt.f16x2 %x, %least
  %bounded = fmax.f16x2 %x, %least
  %whole = fadd.f16x2 %bounded, %rounder
  %n = fsub.f16x2 %whole, %rounder
  %f = fsub.f16x2 %bounded, %n
  %p2 = ffma.f16x2 %f, %c3, %c2
  %p1 = ffma.f16x2 %f, %p2, %c1
  %p0 = ffma.f16x2 %f, %p1, %c0
  %bits = bitcast.i16x2 %whole
  %biased = add.i16x2 %bits, %exponent
  %moved = shl.i16x2 %biased, %ten
  %two_to_n = bitcast.f16x2 %moved
  %e = fmul.f16x2 %p0, %two_to_n
  %power = fmul.f16x2 %e, %seen
  store %power, %weights[%of]
  %lo = extract.f16x2 %power, 0
  %hi = extract.f16x2 %power, 1
  %a = fcvt.f32 %lo
  %b = fcvt.f32 %hi
  %sum_a = fadd.f32 %sum, %a
  %sum_b = fadd.f32 %sum_a, %b
  %j1 = add.i32 %j, %one
  %of1 = add.i32 %of, %one
  %on = icmp.lt_s.i32 %j1, %length
  br_if %on, ^power(%j1, %of1, %sum_b), ^divide
^divide:
  %unit = const.f32 1
  %inverse = fdiv.f32 %unit, %sum_b
  %share = fcvt.f16 %inverse
  %shares = splat.f16x2 %share
  br ^weigh(%zero, %start)
^weigh(%l: i32, %to: i32):
  %u = load %weights[%to]
  %weight = fmul.f16x2 %u, %shares
  store %weight, %weights[%to]
  %l1 = add.i32 %l, %one
  %to1 = add.i32 %to, %one
  %still = icmp.lt_s.i32 %l1, %length
  br_if %still, ^weigh(%l1, %to1), ^done
^done:
  ret
}

; run: halu, ptx: @softmax items=2 length=2 scale=1 scores=[[1, 2], [3, 4], [0, 0], [-8, 20]] mask=[[1, 1], [1, 1], [1, 1], [1, 0]] weights=zeros(4) -> weights=[0x2d94281b, 0x39273395, 0x38003800, 0x00000982]
; run: halu, ptx: @softmax items=40 length=9 scale=[0.125, -2] scores=random(360, 411) mask=random(360, 412) weights=zeros(360)

; Eight rows of 64 numbers, of which row r counts the first 8 r + 8.
; run: halu, ptx: @softmax items=8 length=32 scale=0.125 scores=@activations.npy mask=@activations-mask.npy weights=zeros(256) -> weights=@activations-weights.npy
