; y[i] = a * x[i] + y[i] on packed halves, one word an item
; run: halu, ptx: @axpy items=2 a=0x40004000 x=[0x3c003c00, 0x42004200] y=[0x3c003c00, 0x00000000] -> y=[0x42004200, 0x46004600]
kernel axpy(a: f16x2, x: in f16x2, y: inout f16x2) {
  let i = item_id()
  y[i] = ffma(a, x[i], y[i])
}
