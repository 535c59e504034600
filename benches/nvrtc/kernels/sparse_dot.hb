; Dot product with 2:4 sparse int8 weights. A word has four weights for eight inputs; a byte of `places` has their two-bit places in
; their group of four inputs. Each item computes the product of a row of 32 inputs.
kernel sparse_dot(weights: in i8x4, places: in i8, x: in i8, y: out i32) {
  let i = item_id()
  var sum = 0
  unroll for k in 0..4 {
    let w = weights[4 * i + k]
    let p = zext.i32(places[4 * i + k])
    sum += sext.i32(extract(w, 0)) * sext(x[(p & 3) + 8 * k])
    sum += sext.i32(extract(w, 1)) * sext(x[(p >>_u 2 & 3) + 8 * k])
    sum += sext.i32(extract(w, 2)) * sext(x[(p >>_u 4 & 3) + 8 * k + 4])
    sum += sext.i32(extract(w, 3)) * sext(x[(p >>_u 6) + 8 * k + 4])
  }
  y[i] = sum
}
; run: halu, ptx: @sparse_dot items=128 weights=random(512, 1) places=random(512, 2) x=random(32, 3) y=zeros(128)
