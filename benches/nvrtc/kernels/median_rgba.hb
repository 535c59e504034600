; Median of 3 by 3 RGBA pixels, channel by channel. Each item computes a pixel. Rows are `w` pixels apart.
fn sorted(a: i8x4, b: i8x4) -> (i8x4, i8x4) { (min_u(a, b), max_u(a, b)) }

fn median(a: i8x4, b: i8x4, c: i8x4) -> i8x4 { max_u(min_u(a, b), min_u(max_u(a, b), c)) }

kernel median_rgba(pixels: in i8x4, w: i32, medians: out i8x4) {
  let i = item_id()
  var least: i8x4[3]
  var middle: i8x4[3]
  var most: i8x4[3]
  unroll for r in 0..3 {
    let at = i + r * w
    let (a, b) = sorted(pixels[at], pixels[at + 1])
    let (c, d) = sorted(b, pixels[at + 2])
    let (e, f) = sorted(a, c)
    least[r] = e
    middle[r] = f
    most[r] = d
  }
  let low = max_u(max_u(least[0], least[1]), least[2])
  let high = min_u(min_u(most[0], most[1]), most[2])
  medians[i] = median(low, median(middle[0], middle[1], middle[2]), high)
}
; run: halu, ptx: @median_rgba items=256 pixels=random(400, 1) w=64 medians=zeros(256)
