; Rectifier of neural networks on packed halves: negative numbers
; become 0, NaN stays, and -0 becomes 0. Each item computes four words.
kernel relu(x: in f16x2 align 16, y: out f16x2 align 16) {
  let at = item_id() * 4
  var v: f16x2[4]
  unroll for k in 0..4 { v[k] = x[at + k] }
  unroll for k in 0..4 { y[at + k] = fmax.nan(v[k], 0.0) }
}

; run: halu, ptx: @relu items=1 x=[[1, -1], [0, -0], [nan, -inf], [inf, 0.00000006]] y=zeros(4) -> y=[0x00003c00, 0x00000000, 0x00007fff, 0x00017c00]
; run: halu, ptx: @relu items=250 x=random(1000, 461) y=zeros(1000)

; Activations of a network.
; run: halu, ptx: @relu items=64 x=@activations.npy y=zeros(256) -> y=@activations-relu.npy
