; A blur of 3 by 3, by weights of sixteenths: 1 2 1, 2 4 2, 1 2 1. The square of item i begins at s[i]; a row is w bytes.
fn weight(r: const, c: const) -> i32 { (if r == 1 { 2 } else { 1 }) * (if c == 1 { 2 } else { 1 }) }

kernel blur(s: in i8, d: out i8, w: i32) {
  let i = item_id()
  var sum = 0
  unroll for r in 0..3 {
    unroll for c in 0..3 {
      sum += zext.i32(s[i + r * w + c]) * weight(r, c)
    }
  }
  d[i] = trunc(sum + 8 >>_u 4)
}
; run: halu, vp1, ptx: @blur items=2 w=4 s=[16, 16, 16, 16, 16, 32, 16, 16, 16, 16, 16, 16] -> d=[20, 18]
; run: halu, vp1, ptx: @blur items=1000 w=50 s=random(1102, 1)
