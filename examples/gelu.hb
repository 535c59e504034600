; GELU, the activation of transformers: x times the share of a normal distribution that lies below x, by tanh: x (1 +
; tanh(0.798 (x + 0.0447 x^3))) / 2, on packed halves and on packed bfloat16. For (1 + tanh(u)) / 2 stands 1/2 and a
; polynomial with odd powers of u up to the ninth, between -3 and 3, clamped to [0, 1]; on halves the multiply-add that
; ends it clamps. There the result is off by 0.008 at most. An item takes a word of two.
kernel @gelu(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %k1 = const.f16x2 0.798
  %k3 = const.f16x2 0.0357
  %most = const.f16x2 3
  %least = const.f16x2 -3
  %c1 = const.f16x2 0.4814
  %c3 = const.f16x2 -0.11804
  %c5 = const.f16x2 0.02124
  %c7 = const.f16x2 -0.001999
  %c9 = const.f16x2 7.385e-5
  %half = const.f16x2 0.5
  %v2 = fmul.f16x2 %v, %v
  %k = ffma.f16x2 %v2, %k3, %k1
  %w = fmul.f16x2 %v, %k
  %below = fmin.f16x2 %w, %most
  %u = fmax.f16x2 %below, %least
  %u2 = fmul.f16x2 %u, %u
  %p7 = ffma.f16x2 %u2, %c9, %c7
  %p5 = ffma.f16x2 %u2, %p7, %c5
  %p3 = ffma.f16x2 %u2, %p5, %c3
  %p1 = ffma.f16x2 %u2, %p3, %c1
  %s = ffma.sat.f16x2 %u, %p1, %half
  %r = fmul.f16x2 %v, %s
  store %r, %y[%i]
  ret
}

kernel @gelu_bf16(%x: in bf16x2, %y: out bf16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %k1 = const.bf16x2 0.798
  %k3 = const.bf16x2 0.0357
  %most = const.bf16x2 3
  %least = const.bf16x2 -3
  %c1 = const.bf16x2 0.4814
  %c3 = const.bf16x2 -0.11804
  %c5 = const.bf16x2 0.02124
  %c7 = const.bf16x2 -0.001999
  %c9 = const.bf16x2 7.385e-5
  %half = const.bf16x2 0.5
  %v2 = fmul.bf16x2 %v, %v
  %k = ffma.bf16x2 %v2, %k3, %k1
  %w = fmul.bf16x2 %v, %k
  %below = fmin.bf16x2 %w, %most
  %u = fmax.bf16x2 %below, %least
  %u2 = fmul.bf16x2 %u, %u
  %p7 = ffma.bf16x2 %u2, %c9, %c7
  %p5 = ffma.bf16x2 %u2, %p7, %c5
  %p3 = ffma.bf16x2 %u2, %p5, %c3
  %p1 = ffma.bf16x2 %u2, %p3, %c1
  %open = ffma.bf16x2 %u, %p1, %half
  %one = const.bf16x2 1
  %none = const.bf16x2 0
  %high = fmin.bf16x2 %open, %one
  %s = fmax.bf16x2 %high, %none
  %r = fmul.bf16x2 %v, %s
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @gelu items=6 x=[[0, 1], [-1, 0.5], [-0.25, 2], [4, -4], [inf, nan], [-0, 0.01]] y=zeros(6) -> y=[0x3aba0000, 0x357eb118, 0x3fceae79, 0x80004400, 0x7fff7c00, 0x1d298000]
; run: halu, ptx: @gelu_bf16 items=4 x=[0xbf803f80, 0xbe803f00, 0x40804000, 0x3c24c000] y=zeros(4) -> y=[0xbe243f57, 0xbdcf3eaf, 0x407e3ff9, 0x3ba5bd62]
; run: halu, ptx: @gelu items=1000 x=random(1000, 391) y=zeros(1000)
; run: halu, ptx: @gelu_bf16 items=1000 x=random(1000, 392) y=zeros(1000)

; Numbers as they come between the layers of a network.
; run: halu, ptx: @gelu items=256 x=@activations.npy y=zeros(256) -> y=@activations-gelu.npy
