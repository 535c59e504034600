; The rectifier of neural networks on packed halves: what is negative becomes 0. NaN stays, and -0 becomes 0. An item
; takes four words.
kernel @relu(%x: in f16x2 align 16, %y: out f16x2 align 16) {
^entry:
  %i = item_id
  %four = const.i32 4
  %at = mul.i32 %i, %four
  %none = const.f16x2 0
  %x0 = load %x[%at]
  %x1 = load %x[%at + 1]
  %x2 = load %x[%at + 2]
  %x3 = load %x[%at + 3]
  %y0 = fmax.nan.f16x2 %x0, %none
  %y1 = fmax.nan.f16x2 %x1, %none
  %y2 = fmax.nan.f16x2 %x2, %none
  %y3 = fmax.nan.f16x2 %x3, %none
  store %y0, %y[%at]
  store %y1, %y[%at + 1]
  store %y2, %y[%at + 2]
  store %y3, %y[%at + 3]
  ret
}

; run: halu, ptx: @relu items=1 x=[[1, -1], [0, -0], [nan, -inf], [inf, 0.00000006]] y=zeros(4) -> y=[0x00003c00, 0x00000000, 0x00007fff, 0x00017c00]
; run: halu, ptx: @relu items=250 x=random(1000, 461) y=zeros(1000)

; Numbers as they come between the layers of a network.
; run: halu, ptx: @relu items=64 x=@activations.npy y=zeros(256) -> y=@activations-relu.npy
