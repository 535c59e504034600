; y[i] is the mean of n neighbours in x, in each lane; scale is 1 / n
kernel mean(x: in f16x2, n: i32, scale: f16x2, y: out f16x2) {
  let i = item_id()
  var sum = f16x2(0.0)
  for k in 0..n { sum += x[i + k] }
  y[i] = sum * scale
}
; run: halu, vp1, ptx: @mean items=2 n=2 scale=0.5 x=[[1, 10], [3, 20], [5, 30]] -> y=[[2, 15], [4, 25]]
