; Scalar product of two vectors of halves, as in a sample of CUDA. Multiply-adds accumulate in four words
; of two sums, which additions then combine. The result of an item is converted to f32; the caller adds the
; results of all items. Item i reads `length` consecutive groups of four words; `length` is at least 1.
kernel dot(length: i32, a: in f16x2 align 16, b: in f16x2 align 16, sums: out f32) {
  let i = item_id()
  let start = i * length * 4
  var s: f16x2[4]
  var (k, at) = (0, start)
  do {
    var p: f16x2[4]
    var q: f16x2[4]
    unroll for c in 0..4 { p[c] = a[at + c] }
    unroll for c in 0..4 { q[c] = b[at + c] }
    unroll for c in 0..4 { s[c] = ffma(p[c], q[c], s[c]) }
    at += 4
    k += 1
  } while k <_s length
  let v = s[0] + s[1] + (s[2] + s[3])
  let (lo, hi) = (extract(v, 0), extract(v, 1))
  sums[i] = fcvt(lo + hi)
}

; run: halu, ptx: @dot items=2 length=2 a=[[-4, -0.5], [0.5, -5], [4.25, -2.25], [4.25, 5], [-2.25, -4.5], [-5, 5], [4, -3], [2.25, 2.25], [-0.2178, 0.7866], [-0.3794, 1.113], [-1.191, 0.181], [1.827, 0.1426], [-0.35, 0.6685], [-2.062, -0.7295], [-0.4043, 0.68], [-0.2737, 0.5347]] b=[[-4.5, 3.5], [4.25, 4.25], [-4, 4], [-1, 2.25], [4.75, -1.25], [-0.5, -2.25], [-2.75, -0.75], [0.5, 2.75], [-4.5, -1], [-4.5, -4], [3.75, -4], [2.5, 4], [1.75, 0.75], [0.75, -5], [5, -0.25], [-1.25, -1.5]] sums=zeros(2) -> sums=[0xc2148000, 0xc0516000]
; run: halu, ptx: @dot items=50 length=5 a=random(1000, 451) b=random(1000, 452) sums=zeros(50)

; Activations of a network: each of four items reads 64 words.
; run: halu, ptx: @dot items=4 length=16 a=@activations.npy b=@activations-residual.npy sums=zeros(4) -> sums=[0xc1ad8000, 0x402ac000, 0xc1894000, 0xc0468000]
