; y = w x + y clamped to [0, 1], on packed halves; NaN and -0 become 0. The
; multiply-add rounds once and includes the clamp. Each item computes a word of two.
kernel @k04_h2_clamp01(%x: in f16x2, %y: inout f16x2, %w: in f16x2) {
^entry:
  %i = item_id
  %vw = load %w[%i]
  %vx = load %x[%i]
  %vy = load %y[%i]
  %r = ffma.sat.f16x2 %vw, %vx, %vy
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k04_h2_clamp01 items=4 x=[[1, -1], [0.5, -0], [nan, 3], [0.75, -inf]] y=[[1, 0.5], [-0.25, -0], [1, -8], [0.125, 1]] w=[[2, 1], [0.75, 1], [1, 2], [0.5, 1]] -> y=[[1, 0], [0.125, 0], [0, 0], [0.5, 0]]
; run: halu, ptx: @k04_h2_clamp01 items=1000 x=random(1000, 7) y=random(1000, 8) w=random(1000, 9)
