; Neuron on halves: y = w x + y, or 0 if the result is negative or -0; NaN stays. The multiply-add rounds
; once. On GPUs from sm_80 on, the multiply-add includes the rectifier. Each item computes a word of two.
kernel @k03_h2_relu_fma(%x: in f16x2, %y: inout f16x2, %w: in f16x2) {
^entry:
  %i = item_id
  %vw = load %w[%i]
  %vx = load %x[%i]
  %vy = load %y[%i]
  %sum = ffma.f16x2 %vw, %vx, %vy
  %zero = const.f16x2 0
  %r = fmax.nan.f16x2 %sum, %zero
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k03_h2_relu_fma items=4 x=[[1, -1], [0.5, -0], [nan, 3], [0.75, -inf]] y=[[1, 0.5], [-0.25, -0], [1, -8], [0.125, 1]] w=[[2, 1], [0.75, 1], [1, 2], [0.5, 1]] -> y=[0x00004200, 0x00003000, 0x00007fff, 0x00003800]
; run: halu, ptx: @k03_h2_relu_fma items=1000 x=random(1000, 4) y=random(1000, 5) w=random(1000, 6)
