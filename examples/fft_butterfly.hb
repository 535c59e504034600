; Step of the fast Fourier transform: computes a + w b and a - w b for complex numbers a and b and a root of unity w. A
; number has two halves, the real part lowest. w b is w.re b + w.im i b, where i b is [-b.im, b.re]. The splats of w are
; operand selectors, and changes of sign cost nothing: the step takes four multiply-adds and a swap of the lanes of b.
;
; Item i reads numbers i and i + item_count of x and writes both results to adjacent elements
; of y. A transform of 2^k numbers takes k launches, each on the output of the previous one.
; The results are in bit-reversed order. For launch s, the root of item i is the root of
; unity of order 2^(s+1), to the power of the lowest s bits of i in reversed order.
kernel fft_butterfly(x: in f16x2, roots: in f16x2, y: out f16x2) {
  let i = item_id()
  let (a, b, w) = (x[i], x[i + item_count()], roots[i])
  let (re, im) = (shuffle(w, w, [0, 0]), shuffle(w, w, [1, 1]))
  let ib = shuffle(-b, b, [1, 2])
  let (minus_re, minus_im) = (-re, -im)
  let sum = ffma(ib, im, ffma(b, re, a))
  let difference = ffma(ib, minus_im, ffma(b, minus_re, a))
  let to = i + i
  y[to] = sum
  y[to + 1] = difference
}

; The three launches of a transform of eight numbers.
; run: halu, ptx: @fft_butterfly items=4 x=[[1, 0], [2, -1], [0, 0.5], [-1, 3], [4, 0], [0, 0], [0.25, -0.25], [10, 1]] roots=[[1, 0], [1, 0], [1, 0], [1, 0]] y=zeros(8) -> y=[0x00004500, 0x0000c200, 0xbc004000, 0xbc004000, 0x34003400, 0x3a00b400, 0x44004880, 0x4000c980]
; run: halu, ptx: @fft_butterfly items=4 x=[0x00004500, 0x0000c200, 0xbc004000, 0xbc004000, 0x34003400, 0x3a00b400, 0x44004880, 0x4000c980] roots=[[1, 0], [0, -1], [1, 0], [0, -1]] y=zeros(8) -> y=[0x34004540, 0xb40044c0, 0x3400c080, 0xb400c380, 0x42004980, 0xc500c700, 0x49004400, 0xca000000]
; run: halu, ptx: @fft_butterfly items=4 x=[0x34004540, 0xb40044c0, 0x3400c080, 0xb400c380, 0x42004980, 0xc500c700, 0x49004400, 0xca000000] roots=[[1, 0], [0, -1], [0.707, -0.707], [-0.707, -0.707]] y=zeros(8) -> y=[0x42804c10, 0xc180c5c0, 0x46c0b400, 0xc74048e0, 0x447e47a6, 0xc3fcca13, 0x481eca1e, 0xc85e44bc]

; run: halu, ptx: @fft_butterfly items=500 x=random(1000, 481) roots=random(500, 482) y=zeros(1000)
