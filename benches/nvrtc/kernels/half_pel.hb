; Prediction at a half-pixel position, to the right and down: rounded averages of averages. Each item computes four pixels. Rows are
; `w` words apart.
fn between(a: i8x4, b: i8x4) -> i8x4 { avg_u(a, shuffle(a, b, [1, 2, 3, 4])) }

kernel half_pel(frame: in i8x4, w: i32, predicted: out i8x4) {
  let i = item_id()
  predicted[i] = avg_u(between(frame[i], frame[i + 1]), between(frame[i + w], frame[i + w + 1]))
}
; run: halu, ptx: @half_pel items=256 frame=random(400, 1) w=64 predicted=zeros(256)
