; Inner loop of a language model that generates text: a matrix times a vector, where the weights
; are already halves. A chain of 16 multiply-adds sums a group of 32 weights in halves, with two
; sums in the lanes of a word. The sum of each group is scaled and added to the result.
;
; Item i computes column i. Group g of it starts at word 16 * (g * item_count + i), and its scale has index
; g * item_count + i. The part of the vector for group g starts at word 16 * g. There is at least one group.
kernel exl2_gemv(groups: i32, weights: in f16x2 align 16, scales: in f16, vector: in f16x2 align 16, product: out f16) {
  let i = item_id()
  let columns = item_count()
  var (g, at, sum) = (0, i, 0f16)
  do {
    let (from, of) = (at * 16, g * 16)
    var w: f16x2[16]
    var x: f16x2[16]
    unroll for k in 0..16 { w[k] = weights[from + k] }
    unroll for k in 0..16 { x[k] = vector[of + k] }
    var s = w[0] * x[0]
    unroll for k in 1..16 { s = ffma(w[k], x[k], s) }
    sum = ffma(extract(s, 0) + extract(s, 1), scales[at], sum)
    at += columns
    g += 1
  } while g <_s groups
  product[i] = sum
}

; run: halu, ptx: @exl2_gemv items=2 groups=2 weights=[[2, -3], [3, 1], [1, 3], [4, 0], [-7, -5], [-1, 6], [7, -4], [-2, 2], [-8, -3], [6, -5], [-1, 0], [6, 3], [1, -6], [2, 4], [2, -8], [1, 1], [-4, 4], [-1, 4], [-2, -5], [4, 6], [1, -7], [-4, -5], [6, -7], [0, 5], [4, -3], [-3, -5], [1, 3], [-1, 3], [6, 2], [-2, 1], [2, 7], [-3, -3], [-4, 3], [-6, 4], [-1, 4], [2, 2], [-6, 3], [3, -4], [5, -3], [-1, 1], [1, -6], [1, 2], [7, 0], [6, -3], [1, 5], [0, -7], [-3, 5], [5, 1], [-3, 3], [-8, 7], [-1, 3], [-5, -5], [-6, -1], [3, 7], [3, -3], [-2, -7], [-7, 5], [2, 1], [2, -8], [6, 7], [3, -8], [1, -2], [3, 6], [2, -4]] scales=[0.01, 0.5, 0.02, -0.03] vector=[[1.375, 1.5], [-1.375, 0.25], [1.5, -1.5], [-0.75, -0.125], [1.125, 0.5], [1.375, 0.75], [1.125, 1], [-0.25, -1.75], [0.25, -1.375], [-1.25, 0.75], [-1.375, 1.75], [1, 0], [-1, 1.875], [0.5, 0.875], [-1.25, -1.125], [1.5, -0.125], [-0.519, 0.2734], [0.9043, 0.02412], [-0.0601, 0.642], [-0.737, -0.3074], [-0.8096, -0.5137], [-0.3389, 0.509], [2.318, -0.938], [-0.3408, 1.755], [0.99, -2.582], [-0.534, 0.34], [0.8765, -0.81], [-0.6416, 0.0318], [0.9414, 1.982], [-0.79, -0.909], [1.561, -0.1661], [2.098, -0.865]] product=zeros(2) -> product=[0x3b3b, 0xca59]
; run: halu, ptx: @exl2_gemv items=60 groups=3 weights=random(2880, 441) scales=random(180, 442) vector=random(48, 443) product=zeros(60)
