; Product of complex numbers, c[i] = a[i] * b[i]. A number has two halves, the real part lowest. FFT butterflies use this product.
;
;   (a.re + i a.im) * (b.re + i b.im) = (a.re b.re - a.im b.im) + i (a.im b.re + a.re b.im)
;
; Two packed operations compute the four products and two sums: a times [b.re, b.re], plus i a times [b.im, b.im], where i
; a is [-a.im, a.re]. Splats are operand selectors and cost nothing. The product of a and i takes a negation and a shuffle.
kernel @cmul(%a: in f16x2, %b: in f16x2, %c: out f16x2) {
^entry:
  %i     = item_id
  %ai    = load %a[%i]
  %bi    = load %b[%i]
  %re    = shuffle.f16x2 %bi, %bi, [0, 0]
  %im    = shuffle.f16x2 %bi, %bi, [1, 1]
  %minus = fneg.f16x2 %ai
  %ia    = shuffle.f16x2 %minus, %ai, [1, 2]
  %cross = fmul.f16x2 %ia, %im
  %r     = ffma.f16x2 %ai, %re, %cross
  store %r, %c[%i]
  ret
}

; (1 + 2i)(3 + 4i) = -5 + 10i, i * i = -1
; run: halu, ptx: @cmul items=2 a=[[1, 2], [0, 1]] b=[[3, 4], [0, 1]] -> c=[[-5, 10], [-1, 0]]
; run: halu, ptx: @cmul items=1000 a=random(1000, 4) b=random(1000, 5) c=zeros(1000)

; The low frequencies of a photograph, squared.
; run: halu, ptx: @cmul items=1024 a=@chelsea-spectrum.npy b=@chelsea-spectrum.npy c=zeros(1024)
