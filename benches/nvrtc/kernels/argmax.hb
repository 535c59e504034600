; The class with the highest score of each pixel, the first one if several are equal. Each item computes four pixels. The scores
; of a class are `stride` words after those of the class before.
const CLASSES = 6

kernel argmax(scores: in i8x4, stride: i32, found: out i8x4) {
  let i = item_id()
  var (best, at) = (scores[i], 0i8x4)
  unroll for c in 1..CLASSES {
    let v = scores[i + c * stride]
    at = select(v >_u best, c, at)
    best = max_u(best, v)
  }
  found[i] = at
}
; run: halu, ptx: @argmax items=64 scores=random(384, 1) stride=64 found=zeros(64)
