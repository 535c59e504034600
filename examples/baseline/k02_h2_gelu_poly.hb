; GELU, the activation of transformers, on packed halves: x / 2 (1 + tanh(0.798 x (1 + 0.0447
; x^2))). The polynomial u - u^3 / 3 + 2 u^5 / 15 - 17 u^7 / 315, clamped to [-1, 1],
; approximates tanh(u). Its coefficients are rounded to halves. Each item computes a word of two.
kernel @k02_h2_gelu_poly(%x: in f16x2, %y: out f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %x2 = fmul.f16x2 %v, %v
  %k0 = const.f16x2 0.798
  %k1 = const.f16x2 0.03568
  %s = ffma.f16x2 %x2, %k1, %k0
  %u = fmul.f16x2 %v, %s
  %u2 = fmul.f16x2 %u, %u
  %c3 = const.f16x2 -0.0538
  %c2 = const.f16x2 0.1333
  %c1 = const.f16x2 -0.3333
  %one = const.f16x2 1
  %p2 = ffma.f16x2 %u2, %c3, %c2
  %p1 = ffma.f16x2 %u2, %p2, %c1
  %p0 = ffma.f16x2 %u2, %p1, %one
  %t = fmul.f16x2 %u, %p0
  %low = fmin.f16x2 %t, %one
  %minus = const.f16x2 -1
  %tanh = fmax.f16x2 %low, %minus
  %half = const.f16x2 0.5
  %h = fmul.f16x2 %v, %half
  %r = ffma.f16x2 %h, %tanh, %h
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k02_h2_gelu_poly items=6 x=[[0, 1], [-1, 0.5], [-0.25, 2], [8, -8], [inf, nan], [-0, 0.01]] y=zeros(6) -> y=[0x3ab80000, 0x3588b122, 0x0000ae6c, 0xc8000000, 0x7fff7fff, 0x1d290000]
; run: halu, ptx: @k02_h2_gelu_poly items=1000 x=random(1000, 3) y=zeros(1000)
