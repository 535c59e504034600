; Leaky rectifier on packed halves: x if x is greater than 0,
; else slope * x; NaN stays. Each item computes a word of two.
kernel @k05_h2_leaky_relu(%x: in f16x2, %y: out f16x2, %slope: f16x2) {
^entry:
  %i = item_id
  %v = load %x[%i]
  %zero = const.f16x2 0
  %positive = fcmp.gt.f16x2 %v, %zero
  %scaled = fmul.f16x2 %v, %slope
  %r = select.f16x2 %positive, %v, %scaled
  store %r, %y[%i]
  ret
}

; run: halu, ptx: @k05_h2_leaky_relu items=4 x=[[1, -1], [0, -0], [nan, -8], [-inf, 0.5]] y=zeros(4) slope=0.1 -> y=[0xae663c00, 0x80000000, 0xba667fff, 0x3800fc00]
; run: halu, ptx: @k05_h2_leaky_relu items=1000 x=random(1000, 10) y=zeros(1000) slope=[0.01, -2]
