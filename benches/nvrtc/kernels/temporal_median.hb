; Median of five frames with samples of 16 bits. Each item computes two samples.
fn sorted(a: i16x2, b: i16x2) -> (i16x2, i16x2) { (min_s(a, b), max_s(a, b)) }

kernel temporal_median(frames: in i16x2, size: i32, medians: out i16x2) {
  let i = item_id()
  let (a, b) = sorted(frames[i], frames[i + size])
  let (c, d) = sorted(frames[i + 2 * size], frames[i + 3 * size])
  let (e, f) = sorted(min_s(b, d), frames[i + 4 * size])
  medians[i] = min_s(max_s(e, max_s(a, c)), f)
}
; run: halu, ptx: @temporal_median items=64 frames=random(320, 1) size=64 medians=zeros(64)
