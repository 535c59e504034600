; relu(w * x + b) on two halves, rounded once
kernel neuron(w: f16x2, b: f16x2, x: in f16x2, y: out f16x2) {
  let i = item_id()
  y[i] = ffma.relu(w, x[i], b)
}
; run: halu, ptx: @neuron items=2 w=2.0 b=-1.0 x=[1.0, 0.25] -> y=[1.0, 0.0]
