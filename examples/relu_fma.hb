; relu(w * x + b), the multiply-add of a neuron with a rectifier, on packed halves. The
; multiply-add includes the rectifier: a negative result becomes +0, and NaN stays.
kernel relu_fma(w: f16x2, b: f16x2, x: in f16x2, y: out f16x2) {
  let i = item_id()
  y[i] = ffma.relu(w, x[i], b)
}

; run: halu, ptx: @relu_fma items=3 w=2.0 b=-1.0 x=[1.0, 0.25, [0.5, nan]] -> y=[1.0, 0.0, [0.0, nan]]
; run: halu, ptx: @relu_fma items=1000 w=[3.5, -0.125] b=[-1.0, 2.0] x=random(1000, 3) y=zeros(1000)

; The bright parts of a photograph, with more contrast.
; run: halu, ptx: @relu_fma items=2048 w=2.0 b=-1.0 x=@chelsea-f16.npy y=zeros(2048)
